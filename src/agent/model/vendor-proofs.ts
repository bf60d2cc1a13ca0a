import type { Message, Part } from "../../core/model/messages.ts";

/**
 * Removes other providers' signatures, encrypted reasoning and opaque parts: only the provider that issued them accepts them,
 * even among providers of one wire, and others reject the whole request. Text and calls stay.
 */
export function withoutForeignSignatures(messages: readonly Message[], provider: string): Message[] {
  return messages.map((message) => {
    if (message.provider === undefined || message.provider === provider) return message;
    const { provider: _, ...rest } = message;
    return { ...rest, parts: message.parts.flatMap(unproven) };
  });
}

function unproven(part: Part): Part[] {
  if (part.type === "reasoning" || part.type === "opaque") return [];
  if (part.type !== "text" && part.type !== "tool_call") return [part];
  const { signature: _, ...rest } = part;
  return rest.type === "text" && rest.text === "" ? [] : [rest];
}
