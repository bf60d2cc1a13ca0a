import type { Delta } from "venturi/plugin";
import { asList, asRecord } from "venturi/plugin/provider";

/** Content as a list of parts (Mistral): text, thinking, references. True when there was text. */
export function contentParts(content: readonly unknown[], out: Delta[]): boolean {
  let hasText = false;
  for (const entry of content) {
    const part = asRecord(entry);
    if (part.type === "thinking") pushThinking(part.thinking, out);
    else if (typeof part.text === "string") {
      if (part.text === "") continue;
      hasText = true;
      out.push({ type: "text", text: part.text });
    } else {
      const kind = part.type === "reference" ? "citation" : "part";
      out.push({ type: "activity", kind, wire: "openai-chat", data: entry });
    }
  }
  return hasText;
}

function pushThinking(thinking: unknown, out: Delta[]): void {
  if (typeof thinking === "string" && thinking !== "") out.push({ type: "reasoning", text: thinking });
  for (const piece of asList(thinking)) {
    const { text } = asRecord(piece);
    if (typeof text === "string" && text !== "") out.push({ type: "reasoning", text });
  }
}
