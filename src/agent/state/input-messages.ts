import type { Message } from "../../core/model/messages.ts";
import type { RunInput } from "../../core/run/event-fields.ts";

export function inputMessages(input: RunInput): Message[] {
  const messages = [...(input.messages ?? [])];
  if (input.text !== undefined) messages.push({ role: "user", parts: [{ type: "text", text: input.text }] });
  return messages;
}
