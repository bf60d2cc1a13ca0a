import type { RunEvent, Timing } from "../state/api-types.ts";

/** The parts of a run's time that its events tell apart, in the order of the legend. */
export const parts = ["wait", "stream", "backoff", "tool", "approval", "runtime"] as const;
export type Part = (typeof parts)[number];

export interface Segment {
  readonly part: Part;
  readonly from: number;
  to: number;
}

/**
 * Charges each millisecond between two events to exactly one part, so that the parts add up. Segments are merged: their number
 * grows with the steps of a run, not with its tokens.
 */
export class Ribbon {
  readonly segments: Segment[] = [];
  #at: number | undefined;
  #generating = false;
  #streaming = false;
  #backoff = false;
  readonly #running = new Set<string>();
  readonly #asking = new Set<string>();

  take(event: RunEvent): void {
    this.#spend(event.at);
    this.#change(event);
  }

  /** As it is now; what comes later changes only the original. */
  copy(): Ribbon {
    const copy = new Ribbon();
    const last = this.segments.at(-1);
    copy.segments.push(...this.segments.slice(0, -1));
    if (last !== undefined) copy.segments.push({ ...last });
    copy.#at = this.#at;
    copy.#generating = this.#generating;
    copy.#streaming = this.#streaming;
    copy.#backoff = this.#backoff;
    for (const call of this.#running) copy.#running.add(call);
    for (const call of this.#asking) copy.#asking.add(call);
    return copy;
  }

  /** The part that time is charged to from now on. */
  get part(): Part {
    if (this.#generating) return this.#streaming ? "stream" : "wait";
    if (this.#backoff) return "backoff";
    if (this.#running.size > 0) return "tool";
    return this.#asking.size > 0 ? "approval" : "runtime";
  }

  totals(until = this.#at ?? 0): Record<Part, number> {
    const total: Record<Part, number> = { wait: 0, stream: 0, backoff: 0, tool: 0, approval: 0, runtime: 0 };
    for (const { part, from, to } of this.segments) total[part] += to - from;
    if (this.#at !== undefined && until > this.#at) total[this.part] += until - this.#at;
    return total;
  }

  /** Clocks of two workers may differ: time never runs backwards here. */
  #spend(at: number): void {
    const since = this.#at;
    if (since === undefined) {
      this.#at = at;
      return;
    }
    if (!(at > since)) return;
    this.#at = at;
    const last = this.segments.at(-1);
    const { part } = this;
    if (last?.part === part && last.to === since) last.to = at;
    else this.segments.push({ part, from: since, to: at });
  }

  #change(event: RunEvent): void {
    switch (event.type) {
      case "round.started":
        this.#generating = true;
        this.#streaming = false;
        this.#backoff = false;
        return;
      case "text.delta":
      case "reasoning.delta":
      case "refusal.delta":
      case "tool_call.started":
      case "provider.activity":
        this.#streaming = true;
        return;
      case "generation.finished":
      case "generation.failed":
      case "round.retracted":
      case "run.resumed":
        this.#generating = false;
        this.#streaming = false;
        if (event.type === "generation.failed") this.#backoff = event.retryMs !== undefined;
        if (event.type !== "run.resumed") return;
        this.#running.clear();
        return;
      case "tool.started":
        this.#running.add(event.call);
        return;
      case "tool.finished":
        this.#running.delete(event.call);
        return;
      case "approval.requested":
        this.#asking.add(event.call);
        return;
      case "approval.resolved":
        this.#asking.delete(event.call);
        return;
      case "run.finished":
      case "run.failed":
        this.#generating = false;
        this.#backoff = false;
        this.#running.clear();
        this.#asking.clear();
        this.#settle(event.timing);
    }
  }

  /**
   * Events do not tell when a request went out and when its first byte came back, only when a round began and its first delta was
   * written. The run's own timing, which comes with its end, does: the waits are corrected by it, each by its share.
   */
  #settle({ providerWait, providerStream }: Timing): void {
    const { wait, stream } = this.totals();
    const excess = Math.round(wait - providerWait);
    if (wait === 0 || excess <= 0) return;
    const toStream = Math.min(excess, Math.max(0, Math.round(providerStream - stream)));
    const shares = { stream: new Shares(toStream, wait), runtime: new Shares(excess - toStream, wait) };
    for (const segment of this.segments.splice(0)) {
      if (segment.part !== "wait") {
        this.#add(segment);
        continue;
      }
      const { from, to } = segment;
      const sent = from + shares.runtime.next(to - from);
      const answered = Math.max(sent, to - shares.stream.next(to - from));
      this.#add({ part: "runtime", from, to: sent });
      this.#add({ part: "wait", from: sent, to: answered });
      this.#add({ part: "stream", from: answered, to });
    }
  }

  #add(segment: Segment): void {
    if (segment.to <= segment.from) return;
    const last = this.segments.at(-1);
    if (last?.part === segment.part && last.to === segment.from) last.to = segment.to;
    else this.segments.push({ ...segment });
  }
}

/** Divides a number of whole milliseconds in proportion, without losing any. */
class Shares {
  readonly #rate: number;
  #sum = 0;
  #given = 0;

  constructor(total: number, whole: number) {
    this.#rate = total / whole;
  }

  next(part: number): number {
    this.#sum += part * this.#rate;
    const share = Math.round(this.#sum) - this.#given;
    this.#given += share;
    return share;
  }
}
