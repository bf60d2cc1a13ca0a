import type { EventOf } from "venturi/plugin";

export type CallEvent = EventOf<"tool_call.started" | "tool_call.delta" | "tool_call.ready" | "tool_call.rejected">;

/** A call in progress, and its events held back while another is being sent. */
interface OpenCall {
  readonly call: string;
  readonly held: CallEvent[];
  whole: boolean;
}

/**
 * Orders the events of the client's calls so that each call is complete before the next: the vendor never interleaves them, and some
 * clients (LangChain4j, agno) would assign fragments to the wrong call.
 */
export class CallTurns {
  /** The first one is being sent. */
  #open: OpenCall[] = [];

  /** The events to send now. */
  add(event: CallEvent): readonly CallEvent[] {
    if (event.type === "tool_call.started") {
      if (!event.client) return [];
      this.#open.push({ call: event.call, held: [], whole: false });
    }
    const open = this.#open.find(({ call }) => call === event.call);
    if (open === undefined) return [event];
    open.whole ||= event.type === "tool_call.ready" || event.type === "tool_call.rejected";
    if (open === this.#open[0] && !open.whole) return [event];
    open.held.push(event);
    const now: CallEvent[] = [];
    for (let first = this.#open[0]; first !== undefined; first = this.#open[0]) {
      now.push(...first.held.splice(0));
      if (!first.whole) break;
      this.#open.shift();
    }
    return now;
  }

  /** Called when another attempt begins. */
  reset(): void {
    this.#open = [];
  }
}
