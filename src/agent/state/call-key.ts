import type { PendingCall } from "../../core/run/event-fields.ts";

/** What identifies a call for repetition checks. */
export type CallIdentity = Pick<PendingCall, "name" | "arguments">;

const written = new WeakMap<object, string>();

/**
 * Whether both have the same name and arguments. Arguments may be megabytes, so they are encoded once, and only if there is something to
 * compare.
 */
export const isSameCall = (left: CallIdentity, right: CallIdentity): boolean =>
  left.name === right.name &&
  (left.arguments === right.arguments || textOf(left.arguments) === textOf(right.arguments));

function textOf(input: CallIdentity["arguments"]): string {
  let text = written.get(input);
  if (text === undefined) {
    text = JSON.stringify(input);
    written.set(input, text);
  }
  return text;
}
