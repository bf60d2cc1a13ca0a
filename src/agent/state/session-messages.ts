import type { Message, Part } from "../../core/messages.ts";
import { type RunState, readOn } from "./run-state.ts";

/**
 * What a run that has ended adds to its session: all that was asked, said and told. Calls that were left to the client stay
 * out, since they have no result and every vendor would refuse them; the client brings them back with their results.
 */
export function sessionMessages(state: RunState): Message[] {
  const left = state.terminal?.type === "run.finished" ? (state.terminal.calls ?? []) : [];
  const withdrawn = new Set(left.map(({ call }) => call));
  const messages = state.messages.flatMap((message) => remembered(message, state, withdrawn));
  const partial = state.round?.text;
  return partial ? [...messages, { role: "assistant", parts: [{ type: "text", text: partial }] }] : messages;
}

function remembered(message: Message, state: RunState, withdrawn: ReadonlySet<string>): Message[] {
  const parts = message.parts
    .filter((part) => !("call" in part && withdrawn.has(part.call)))
    .map((part) => ended(part, state));
  // Reasoning is wanted back only with what it led to.
  const empty = parts.length < message.parts.length && parts.every((part) => part.type === "reasoning");
  return empty ? [] : [{ ...message, parts }];
}

/** A result that was cut can be read on only by the run it belongs to. */
function ended(part: Part, state: RunState): Part {
  if (part.type !== "tool_result" || !state.cutResults.has(part.call)) return part;
  return { ...part, output: part.output.replace(readOn(part.call), "") };
}
