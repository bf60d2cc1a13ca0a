import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { eventsOf } from "../chaos/attached.ts";

/** A client that stays on its connection for as long as it lasts, and comes back by Last-Event-ID when it does not. */
export class AttachedClient {
  readonly run: string;
  readonly events: RunEvent[] = [];
  readonly violations: string[] = [];
  /** Times of arrival, by `performance.now()`. */
  readonly times: number[] = [];
  reconnects = 0;
  readonly #url: string;

  constructor(url: string, run: string) {
    this.#url = url;
    this.run = run;
  }

  /** Resolves with the terminal event, or when the time is over. */
  async follow(deadline: number): Promise<void> {
    for (;;) {
      await this.#connection().catch(() => {}); // a connection that is refused or lost is tried again
      const last = this.events.at(-1);
      if (last && isTerminal(last)) return;
      if (Date.now() > deadline) {
        this.violations.push(`${this.run}: no end in time, ${this.events.length} events`);
        return;
      }
      this.reconnects += 1;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  async #connection(): Promise<void> {
    for await (const event of eventsOf(this.#url, this.run, this.events.length)) {
      if (event.seq !== this.events.length + 1) {
        this.violations.push(`${this.run}: seq ${event.seq} after ${this.events.length}`);
      }
      this.events.push(event);
      this.times.push(performance.now());
    }
  }
}
