import type { EventOf, RunEvent } from "../../core/run/events.ts";
import { type CompleteCall, completeCallsIn } from "../../core/run/recorded-fold.ts";

export type Finished = EventOf<"tool.finished">;

export interface Call extends Pick<EventOf<"tool_call.ready">, "call" | "name" | "arguments"> {
  readonly result?: Finished | undefined;
}

export type RecordedCall = Call & { readonly result: Finished };

/** Calls in order, without cancelled ones and those retracted with their round, whose results nobody saw. */
export const madeIn = (events: readonly RunEvent[]): Call[] =>
  completeCallsIn(events)
    .filter((call) => call.retracted === undefined && !isCancelled(call))
    .map(({ sealed, finished }) => ({ ...sealed, result: finished }));

export const isRecorded = (call: Call): call is RecordedCall => call.result !== undefined;

/** Calls that were started and cancelled or never finished: they may have taken effect. */
export const unfinishedIn = (events: readonly RunEvent[]): Call[] =>
  completeCallsIn(events)
    .filter((call) => call.executed && (call.finished === undefined || isCancelled(call)))
    .map(({ sealed }) => sealed);

const isCancelled = ({ finished }: CompleteCall): boolean => finished?.error?.code === "stream_interrupted";
