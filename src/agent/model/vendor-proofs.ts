import type { Message, Part } from "../../core/messages.ts";

/**
 * The conversation as a provider may see it: signatures, encrypted reasoning and vendors' own parts are accepted only by
 * the provider that gave them, even among those that speak one wire; another one refuses the whole request. What was said and called stays.
 */
export function withoutForeignSignatures(messages: readonly Message[], provider: string): Message[] {
  return messages.map((message) => {
    const { provider: speaker, ...rest } = message;
    if (speaker === undefined || speaker === provider) return message;
    return { ...rest, parts: message.parts.flatMap(unproven) };
  });
}

function unproven(part: Part): Part[] {
  if (part.type === "reasoning" || part.type === "opaque") return [];
  if (part.type !== "text" && part.type !== "tool_call") return [part];
  const { signature: _, ...rest } = part;
  return rest.type === "text" && rest.text === "" ? [] : [rest];
}
