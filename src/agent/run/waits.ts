import type { Clock } from "../../core/ports/clock.ts";
import { idle, noStalls, type PastStall, type Stalls } from "../../core/ports/stalls.ts";
import type { EventBody } from "../../core/run/events.ts";
import { noticeable, type TimePart, type Waited } from "../../core/run/time-parts.ts";

interface Wait {
  readonly part: TimePart;
  readonly name: string;
  /** Monotonic ms. */
  since: number;
}

interface Finished extends Wait {
  ms: number;
  /** Whether it is the sum of several short waits. */
  readonly isSum: boolean;
}

export interface WaitsOf {
  /** Why the journal could not be written since that time, if so. */
  readonly trouble?: (since: number) => string | undefined;
  readonly tenant?: string | undefined;
}

/**
 * Waits of a run that its events do not show: commits, hooks, its reader, a busy process. Short waits are summed; once noticeable they are
 * attached to the next step, so that every reader of the events accounts for the time in the same way.
 */
export class Waits {
  readonly #clock: Clock;
  readonly #stalls: Stalls;
  readonly #trouble: (since: number) => string | undefined;
  readonly #tenant: string | undefined;
  /** Open waits, oldest first. */
  readonly #open: Wait[] = [];
  /** Finished waits not yet reported. Short ones are summed per cause, with `since` of the first. */
  #due: Finished[] = [];
  /** Whether any of them is to be reported: every step checks, and hardly any has one. */
  #isDue = false;
  #stallsSeen: number;

  constructor(clock: Clock, stalls: Stalls = noStalls, { trouble = () => undefined, tenant }: WaitsOf = {}) {
    this.#clock = clock;
    this.#stalls = stalls;
    this.#trouble = trouble;
    this.#tenant = tenant;
    this.#stallsSeen = stalls.last ?? 0;
  }

  /** Returns a function that ends the wait. */
  begin(part: TimePart, name = ""): () => void {
    const wait = this.#begin(part, name);
    return () => this.#end(wait);
  }

  async during<T>(part: TimePart, name: string, work: Promise<T>): Promise<T> {
    const wait = this.#begin(part, name);
    try {
      return await work;
    } finally {
      this.#end(wait);
    }
  }

  #begin(part: TimePart, name: string): Wait {
    const wait = { part, name, since: this.#clock.monotonic() };
    this.#open.push(wait);
    return wait;
  }

  /** No effect when called twice. */
  #end(wait: Wait): void {
    const place = this.#open.lastIndexOf(wait);
    if (place < 0) return;
    this.#open.splice(place, 1);
    this.#add(wait);
  }

  /** Records a wait from before this owner claimed the run. `since`: monotonic ms. */
  past(part: TimePart, name: string, { since, ms }: { readonly since: number; readonly ms: number }): void {
    const known = this.#due.findIndex(
      (each) => each.part === part && each.name === name && each.since === since && !each.isSum,
    );
    const wait = { part, name, since, ms, isSum: false };
    if (known < 0) this.#due.push(wait);
    else this.#due[known] = wait;
    if (isTold(wait)) this.#isDue = true;
  }

  /** The most recently started wait that is still open. */
  get current(): { readonly part: TimePart; readonly name: string; readonly ms: number } | undefined {
    const last = this.#open.at(-1);
    return last && { part: last.part, name: this.#nameOf(last), ms: this.#clock.monotonic() - last.since };
  }

  /** Attaches finished waits to the next step. `offset`: event time minus monotonic time, ms. */
  putOn(body: EventBody, offset: number): void {
    for (const wait of this.#open) {
      const since = this.#clock.monotonic();
      if (since - wait.since < noticeable) continue;
      this.#add(wait);
      wait.since = since;
    }
    const stalls = this.#stalls.since?.(this.#stallsSeen);
    if (stalls !== undefined && stalls.length > 0) this.#addStalls(stalls);
    if (!this.#isDue) return;
    this.#isDue = false;
    const told = this.#due.filter(isTold);
    this.#due = this.#due.filter((wait) => !isTold(wait));
    const waited: Waited[] = told.map(({ part, name, since, ms }) => ({
      for: part,
      ...(name === "" ? {} : { name }),
      from: Math.round(since + offset),
      ms: Math.round(ms),
    }));
    if (waited.length > 0) body.waited = waited;
  }

  #addStalls(stalls: readonly PastStall[]): void {
    for (const stall of stalls) {
      this.#stallsSeen = stall.order;
      this.past(stall.part, this.#blamed(stall), { since: stall.from, ms: stall.ms });
    }
  }

  /** Names the culprit only to its own tenant. */
  #blamed({ culprit, isGuess, busy }: PastStall): string {
    const isIdle = !busy && isGuess;
    if (culprit === undefined) return isIdle ? idle : "";
    const who = culprit.tenant === this.#tenant ? `${culprit.what} of run ${culprit.run}` : "another tenant's run";
    if (isIdle) return `${idle}, while ${who} ran`;
    return isGuess ? `something, while ${who} ran,` : who;
  }

  #nameOf({ part, name, since }: Wait): string {
    return part === "journal" ? (this.#trouble(since) ?? name) : name;
  }

  #add(wait: Wait): void {
    const { part, since } = wait;
    const name = this.#nameOf(wait);
    const ms = this.#clock.monotonic() - since;
    // A noticeable wait is recorded at its own time; summed short ones have none.
    if (ms >= noticeable) return this.past(part, name, { since, ms });
    let due = this.#due.find((each) => each.isSum && each.part === part && each.name === name);
    if (due === undefined) {
      due = { part, name, since, ms, isSum: true };
      this.#due.push(due);
    } else due.ms += ms;
    if (isTold(due)) this.#isDue = true;
  }
}

const isTold = ({ part, ms }: Finished): boolean => ms >= noticeable || part === "blocked";
