import type { RunEvent } from "../state/api-types.ts";

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
    }
  }
}
