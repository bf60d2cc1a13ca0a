import type { PendingCall } from "../../core/run/event-parts.ts";

const written = new WeakMap<object, string>();

/** Identity of a call for repetition checks. Computed once, since arguments may be megabytes. */
export function callKey(call: Pick<PendingCall, "name" | "arguments">): string {
  let text = written.get(call.arguments);
  if (text === undefined) {
    text = JSON.stringify(call.arguments);
    written.set(call.arguments, text);
  }
  return `${call.name} ${text}`;
}
