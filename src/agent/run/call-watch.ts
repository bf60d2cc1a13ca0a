import { type RunLog, WrappedLog } from "../../core/journal/run-log.ts";
import type { StreamObserver } from "../../core/model/provider.ts";
import type { Log } from "../../core/ports/log.ts";
import type { EventBody, RunEvent } from "../../core/run/events.ts";
import type { OpenCall } from "../../provider/accumulate.ts";

/** Why a sealed call has not started: the model is still writing, a person is being asked, or there is no capacity. */
export type Gate =
  | "generation"
  | "dispatch: round"
  | "approval"
  | "its approval function"
  | "an open question"
  | "an exclusive tool"
  | "concurrency"
  | "maxToolCalls"
  | "an earlier call"
  | "maxToolRounds"
  | "the client";

type Counting = Pick<StreamObserver, "accumulated">;

/**
 * Debug log lines of one run's tool calls, from first fragment to result: names, counts and times, never content. Attached only to runs
 * being debugged, so that others pay nothing. Mostly a view of the run's events; the delta writer and the dispatcher report what no event
 * has (what sealed a call, what delays it).
 */
export class CallWatch {
  readonly #log: Log;
  readonly #run: string;
  /** Fragments of the calls of the current generation, by index. */
  #fragments: number[] = [];
  #bytes: number[] = [];
  /** Calls opened and not yet sealed. */
  readonly #open = new Map<string, { readonly tool: string; readonly index: number; readonly at: number }>();
  readonly #gates = new Map<string, Gate>();

  constructor(log: Log, run: string) {
    this.#log = log;
    this.#run = run;
  }

  /** Wraps the run's log so that this watch sees its events. */
  around(log: RunLog): RunLog {
    return new WatchedLog(log, (event) => this.#wrote(event));
  }

  /** Wraps the observer of a generation's fragments to count them. */
  counting(observer: Counting | undefined): Counting {
    this.#fragments = [];
    this.#bytes = [];
    return {
      accumulated: (chunk, call, bytes, sealed, start, end) => {
        // A delta that only names or ends the call is not an argument fragment.
        if (bytes !== (this.#bytes[call] ?? 0)) this.#fragments[call] = (this.#fragments[call] ?? 0) + 1;
        this.#bytes[call] = bytes;
        observer?.accumulated(chunk, call, bytes, sealed, start, end);
      },
    };
  }

  sealed(call: string, { index, name, bytes, sealedBy }: OpenCall): void {
    this.#open.delete(call);
    this.#line("tool call sealed", { call, tool: name, fragments: this.#fragments[index] ?? 0, bytes, by: sealedBy });
  }

  /** Called whenever the gate may have changed; undefined when nothing delays the call any more. */
  gated({ call, name }: { readonly call: string; readonly name: string }, by: Gate | undefined): void {
    if (this.#gates.get(call) === by) return;
    if (by === undefined) this.#gates.delete(call);
    else {
      this.#gates.set(call, by);
      this.#line("tool call gated", { call, tool: name, by });
    }
  }

  #wrote(event: RunEvent): void {
    switch (event.type) {
      case "tool_call.started": {
        const { call, name: tool, round, index, client } = event;
        this.#open.set(call, { tool, index, at: event.at });
        return this.#line("tool call opened", { round, call, tool, index, client });
      }
      case "tool_call.ready":
        return this.#line("tool call checked", { ...of(event), ok: true });
      case "tool_call.rejected":
        return this.#line("tool call checked", { ...of(event), ok: false, code: event.error.code });
      case "approval.resolved":
        return this.#line("tool call answered", {
          round: event.round,
          call: event.call,
          approved: event.approved,
          by: event.by,
        });
      case "question.answered": {
        const { round, call, answered, by } = event;
        return this.#line("question answered", { round, call, answered, by });
      }
      case "tool.started":
        return this.#line("tool started", { ...of(event), attempt: event.attempt });
      case "tool.finished": {
        const { ok, ms, savedMs, error, output } = event;
        const facts = { ok, ms, savedMs, code: error?.code, characters: output?.length };
        return this.#line("tool finished", { ...of(event), ...facts });
      }
      case "generation.failed":
      case "generation.finished":
      case "round.retracted":
      case "run.failed":
        return this.#leaveOpen(event);
      default:
        return;
    }
  }

  /** Logs calls that the generation opened and never completed. */
  #leaveOpen(event: RunEvent): void {
    for (const [call, { tool, index, at }] of this.#open) {
      const facts = { fragments: this.#fragments[index] ?? 0, bytes: this.#bytes[index] ?? 0, ms: event.at - at };
      this.#line("tool call left open", { call, tool, ...facts, by: event.type });
    }
    this.#open.clear();
  }

  #line(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#log.debug(message, { run: this.#run, ...fields });
  }
}

const of = ({ round, call, name }: { readonly round: number; readonly call: string; readonly name: string }) => ({
  round,
  call,
  tool: name,
});

class WatchedLog extends WrappedLog {
  readonly #wrote: (event: RunEvent) => void;

  constructor(log: RunLog, wrote: (event: RunEvent) => void) {
    super(log);
    this.#wrote = wrote;
  }

  override write(body: EventBody): RunEvent {
    const event = this.log.write(body);
    this.#wrote(event);
    return event;
  }

  override async step(body: EventBody): Promise<RunEvent> {
    const event = await this.log.step(body);
    this.#wrote(event);
    return event;
  }
}
