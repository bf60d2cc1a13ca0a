import {
  type Charged,
  isPiece,
  noticeable,
  pausedName,
  stallFrom,
  type TimedEvent,
  type TimePart,
  type TimeSegment,
  timeParts,
  type Waited,
} from "./time-parts.ts";

interface Generating {
  readonly model: string;
  readonly from: number;
  begun: boolean;
  stalls: number;
}

/**
 * Accounts for a run's time. The time between two events is charged to exactly one activity: what the run was waiting for when it began. So
 * the parts add up for everyone who folds the events: the running run, `why`, the console. The number of segments grows with steps, not
 * tokens. Imports nothing but the part names, because browsers run it too.
 */
export class RunTimes {
  /** Deltas of the current attempt; for text, the run's owner updates this and `at` directly. */
  deltas = 0;
  /** Time of the last event. */
  at = 0;
  /** While true, a text delta that follows soon only changes `at` and `deltas`. */
  streaming = false;
  #begun = false;
  #segments: TimeSegment[] = [];
  #charged = 0;
  #attempt: Generating | undefined;
  #backoff: string | undefined;
  /** Created when needed: most runs need none of the three. */
  #running: Map<string, string> | undefined;
  #asking: Map<string, string> | undefined;
  /** What is paused: "" for the run, or the agent. */
  #paused: Set<string> | undefined;
  /** For a fork: its own first event. Events before it are copies, so nothing was down then. */
  #ownFrom: number | undefined;
  readonly #createdAt: number | undefined;

  /** `createdAt`: when the run was stored; needed if its `run.started` does not say how long it was queued. */
  constructor(createdAt?: number) {
    this.#createdAt = createdAt;
  }

  static of(events: Iterable<TimedEvent>, createdAt?: number): RunTimes {
    const times = new RunTimes(createdAt);
    for (const event of events) times.take(event);
    return times;
  }

  /** Contiguous, up to the last event. */
  get segments(): readonly TimeSegment[] {
    this.#catchUp();
    return this.#segments;
  }

  /** When the run was requested. */
  get from(): number {
    return this.#segments[0]?.from ?? this.at;
  }

  take(event: TimedEvent): void {
    if (!this.#begun) this.#begin(event);
    else this.#charge(this.#ownerOf(event), event.at);
    if (event.waited !== undefined) for (const wait of event.waited) this.carve(wait);
    this.#change(event);
  }

  /** Charges an unfinished run up to now. */
  until(now: number): void {
    if (this.#begun) this.#charge(this.now, now);
    else this.#begin({ type: "", at: now });
  }

  /** What the run is waiting for. */
  get now(): Charged {
    const attempt = this.#attempt;
    if (attempt) return { part: attempt.begun ? "providerStream" : "providerWait", name: attempt.model };
    const working = this.#working();
    if (working !== undefined) return { part: "tool", name: working };
    const question = this.#asking?.values().next().value;
    if (question !== undefined) return { part: "approval", name: question };
    if (this.#backoff !== undefined) return { part: "backoff", name: this.#backoff };
    const paused = this.#paused?.values().next().value;
    if (paused !== undefined) return { part: "paused", name: paused };
    return { part: "runtime", name: "" };
  }

  totals(until?: number): Record<TimePart, number> {
    const total = { ...zeros };
    for (const { part, from, to } of this.segments) total[part] += to - from;
    if (this.#begun && until !== undefined && until > this.at) total[this.now.part] += until - this.at;
    return total;
  }

  /** A snapshot; later events only change the original. */
  copy(): RunTimes {
    const copy = new RunTimes(this.#createdAt);
    copy.deltas = this.deltas;
    copy.at = this.at;
    copy.streaming = this.streaming;
    copy.#begun = this.#begun;
    copy.#segments = [...this.#segments];
    copy.#charged = this.#charged;
    copy.#attempt = this.#attempt && { ...this.#attempt };
    copy.#backoff = this.#backoff;
    copy.#running = this.#running && new Map(this.#running);
    copy.#asking = this.#asking && new Map(this.#asking);
    copy.#paused = this.#paused && new Set(this.#paused);
    copy.#ownFrom = this.#ownFrom;
    return copy;
  }

  /** Moves a measured wait to the activity it really was, as far as it lies within the run. */
  carve({ for: part, name = "", from, ms }: Waited): void {
    this.#catchUp();
    this.#map((segment) => {
      const start = Math.max(segment.from, from);
      const end = Math.min(segment.to, from + ms);
      if (end <= start) return [segment];
      return [
        { ...segment, to: start },
        { part, name, from: start, to: end },
        { ...segment, from: end },
      ];
    });
  }

  /** Reassigns up to `ms` of these parts, in this order: for a sum whose position is unknown. */
  move(from: readonly TimePart[], { part, name }: Charged, ms: number): void {
    let left = ms;
    for (const source of from) {
      this.#map((segment) => {
        const taken = segment.part === source ? Math.min(left, segment.to - segment.from) : 0;
        left -= taken;
        if (taken === 0) return [segment];
        const middle = segment.from + taken;
        return [
          { part, name, from: segment.from, to: middle },
          { ...segment, from: middle },
        ];
      });
    }
  }

  #begin({ at, waited = [] }: TimedEvent): void {
    const createdAt = this.#createdAt ?? at;
    const since = Math.min(at - createdAt < noticeable ? at : createdAt, ...waited.map(({ from }) => from));
    this.#begun = true;
    this.at = since;
    this.#charged = since;
    this.#charge({ part: "queue", name: "" }, at);
  }

  /** After a worker died its tools are gone too: until another claims the run only a person may still be thinking. */
  #ownerOf({ type, seq, waited }: TimedEvent): Charged {
    const { now } = this;
    if (type !== "run.resumed" || now.part === "approval" || now.part === "paused") return now;
    if (waited?.some((wait) => wait.for === "down")) return now;
    return { part: this.#ownFrom !== undefined && seq === this.#ownFrom ? "queue" : "down", name: "" };
  }

  /** Never goes backwards: clocks of two workers may differ. */
  #charge(owner: Charged, at: number): void {
    this.#catchUp();
    const since = this.at;
    if (!(at > since)) return;
    this.at = at;
    this.#charged = at;
    const isStall = owner.part === "providerStream" && at - since >= stallFrom;
    if (isStall && this.#attempt) this.#attempt.stalls += 1;
    this.#add({ ...owner, ...(isStall ? { part: "providerStall" } : {}), from: since, to: at });
  }

  /** For most deltas the run's owner only moves `at`; charge that time now. */
  #catchUp(): void {
    if (this.at > this.#charged) this.#add({ ...this.now, from: this.#charged, to: this.at });
    this.#charged = this.at;
  }

  #add(segment: TimeSegment): void {
    const last = this.#segments.at(-1);
    const joins = last?.part === segment.part && last.name === segment.name && segment.from !== this.#attempt?.from;
    if (joins) this.#segments[this.#segments.length - 1] = { ...last, to: segment.to };
    else this.#segments.push(segment);
  }

  #map(change: (segment: TimeSegment) => TimeSegment[]): void {
    this.#segments = this.#segments.flatMap(change).filter(({ from, to }) => to > from);
  }

  #change(event: TimedEvent): void {
    if (isPiece(event)) return this.#arrived();
    switch (event.type) {
      case "run.started":
        this.#ownFrom = event.fork && event.fork.after + 1;
        return;
      case "round.started":
        this.#endAttempt();
        this.#backoff = undefined;
        this.#attempt = { model: event.model ?? "", from: event.at, begun: false, stalls: 0 };
        this.deltas = 0;
        return;
      case "generation.failed":
        // A generation that was cancelled did not fail.
        this.#endAttempt(event.error?.code === "stream_interrupted" ? undefined : "failed");
        this.#backoff = event.retryMs === undefined ? undefined : event.model;
        return;
      case "generation.finished":
      case "round.retracted":
        return this.#endAttempt();
      case "run.resumed":
        this.#endAttempt();
        this.#running = undefined;
        this.#backoff = undefined;
        return;
      case "tool.started":
        this.#running ??= new Map();
        this.#running.set(event.call ?? "", event.name ?? "");
        return;
      case "tool.finished":
        this.#running?.delete(event.call ?? "");
        return;
      case "approval.requested":
      case "question.asked":
        this.#asking ??= new Map();
        this.#asking.set(event.call ?? "", event.name ?? "");
        return;
      case "approval.resolved":
      case "question.answered":
        this.#asking?.delete(event.call ?? "");
        return;
      case "run.paused":
        this.#paused ??= new Set();
        this.#paused.add(pausedName(event.agent));
        return;
      case "run.continued":
        this.#paused?.delete(pausedName(event.agent));
        return;
      case "run.finished":
      case "run.failed":
        this.#paused = undefined;
        this.#endAttempt();
        this.#backoff = undefined;
        this.#running = undefined;
        this.#asking = undefined;
    }
  }

  #arrived(): void {
    if (this.#attempt === undefined) return;
    this.#attempt.begun = true;
    this.streaming = true;
    this.deltas += 1;
  }

  #endAttempt(outcome?: "failed"): void {
    const attempt = this.#attempt;
    if (attempt === undefined) return;
    this.#catchUp();
    this.#attempt = undefined;
    this.streaming = false;
    // A model that is slow with every delta is slow, not stalled.
    const isSlow = attempt.stalls * 2 > this.deltas;
    if (outcome === undefined && !isSlow) return;
    const from: readonly TimePart[] =
      outcome === undefined ? ["providerStall"] : ["providerWait", "providerStream", "providerStall"];
    const part = outcome === undefined ? "providerStream" : "failedAttempt";
    this.#map((segment) =>
      segment.from >= attempt.from && from.includes(segment.part) ? [{ ...segment, part }] : [segment],
    );
  }

  /** Names of running tools that are not asking; undefined if there are none. */
  #working(): string | undefined {
    if (!this.#running?.size) return undefined;
    const names = new Set<string>();
    for (const [call, name] of this.#running) if (!this.#isAsking(call)) names.add(name);
    return names.size === 0 ? undefined : [...names].join(", ");
  }

  /** A running tool's questions have ids that begin with its call id. */
  #isAsking(call: string): boolean {
    if (this.#asking !== undefined)
      for (const asked of this.#asking.keys()) if (asked === call || asked.startsWith(`${call}.`)) return true;
    return false;
  }
}

const zeros = Object.fromEntries(timeParts.map((part) => [part, 0])) as Record<TimePart, number>; // One entry per part.
