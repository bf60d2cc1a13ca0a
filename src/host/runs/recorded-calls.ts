import type { EventOf, RunEvent } from "../../core/run/events.ts";

export type Finished = EventOf<"tool.finished">;

export type Call = Pick<EventOf<"tool_call.ready">, "call" | "name" | "arguments">;

export interface RecordedCall extends Call {
  readonly result: Finished;
}

/** Calls that have a result, in call order. */
export function callsIn(events: readonly RunEvent[]): RecordedCall[] {
  const results = new Map<string, Finished>();
  for (const event of events) if (event.type === "tool.finished") results.set(event.call, event);
  return madeIn(events).flatMap((call) => {
    const result = results.get(call.call);
    return result === undefined ? [] : [{ ...call, result }];
  });
}

/** Calls in order, without cancelled ones and those retracted with their round, whose results nobody saw. */
export function madeIn(events: readonly RunEvent[]): Call[] {
  const made = new Map<string, Call>();
  let round: string[] = [];
  for (const event of events) {
    if (event.type === "round.started") round = [];
    else if (event.type === "round.retracted") for (const call of round) made.delete(call);
    else if (event.type === "tool.finished" && event.error?.code === "stream_interrupted") made.delete(event.call);
    if (event.type !== "tool_call.ready") continue;
    made.set(event.call, event);
    round.push(event.call);
  }
  return [...made.values()];
}

/** Calls that were started and cancelled or never finished: they may have taken effect. */
export function unfinishedIn(events: readonly RunEvent[]): Call[] {
  const ready = new Map<string, Call>();
  const open = new Map<string, Call>();
  for (const event of events) {
    if (event.type === "tool_call.ready") ready.set(event.call, event);
    else if (event.type === "tool.finished" && event.error?.code !== "stream_interrupted") open.delete(event.call);
    const call = event.type === "tool.started" ? ready.get(event.call) : undefined;
    if (event.type === "tool.started" && call !== undefined) open.set(event.call, call);
  }
  return [...open.values()];
}
