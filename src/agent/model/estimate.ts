import { argumentsText, type FilePart, isText, type Message } from "../../core/model/messages.ts";
import type { Native } from "../../core/model/native.ts";
import type { Usage } from "../../core/model/usage.ts";

const charactersPerToken = 4;

/** Accurate to a factor of about 1.3 for English. Counts bytes because a Chinese character (three bytes) is nearly a whole token. */
export const estimateTokens = (text: string): number => tokensOf(sizeOf(text));

export const tokensOf = (characters: number): number => Math.ceil(characters / charactersPerToken);

/** Counting 20 MiB takes 20 ms, so longer texts are estimated from evenly spread samples of this total size. */
const counted = 1024 * 1024;
const samples = 256;

function sizeOf(text: string): number {
  if (text.length <= counted) return Buffer.byteLength(text);
  let bytes = 0;
  for (let sample = 0; sample < samples; sample++) {
    const at = Math.floor((text.length / samples) * sample);
    bytes += Buffer.byteLength(text.slice(at, at + counted / samples));
  }
  return Math.round((bytes / counted) * text.length);
}

export function estimateMessage(message: Message): number {
  let characters = 8 + nativeSize(message.native);
  for (const part of message.parts) {
    if ("native" in part) characters += nativeSize(part.native);
    if (part.type === "text") characters += Math.max(part.size ?? 0, sizeOf(part.text));
    else if (part.type === "reasoning") characters += sizeOf(part.text) + (part.encrypted?.length ?? 0) * textInBase64;
    else if (part.type === "tool_call") characters += part.name.length + sizeOf(argumentsText(part));
    else if (part.type === "tool_result") characters += Math.max(part.size ?? 0, sizeOf(part.output));
    else if (part.type === "image") characters += 1_000 * charactersPerToken;
    else if (part.type === "file") characters += fileCharacters(part);
    else characters += sizeOf(JSON.stringify(part.data) ?? "");
  }
  return Math.ceil(characters / charactersPerToken);
}

const textInBase64 = 0.75;

/** Size of the native fields that add to the element itself. */
export function nativeSize(native: Native | undefined): number {
  if (native === undefined) return 0;
  let size = 0;
  for (const [name, value] of Object.entries(native.fields)) {
    if (!native.translated?.includes(name)) size += sizeOf(JSON.stringify(value) ?? "");
  }
  return size;
}

/** Text counts in full; about a tenth of a PDF is text, at least a page. */
function fileCharacters({ mediaType, data, size }: FilePart): number {
  const bytes = Math.max(size ?? 0, ((data?.length ?? 0) * 3) / 4);
  return isText(mediaType) ? bytes : Math.max(1_500 * charactersPerToken, bytes / 10);
}

/** Estimates figures the vendor did not report and marks them as estimated; a reported zero stays zero. */
export function completeUsage(reported: Usage | undefined, input: readonly Message[], outputCharacters: number): Usage {
  const known = reported ?? {};
  if (known.inputTokens !== undefined && known.outputTokens !== undefined) return known;
  const missingAll = known.inputTokens === undefined && known.outputTokens === undefined;
  return {
    ...known,
    inputTokens: known.inputTokens ?? input.reduce((sum, message) => sum + estimateMessage(message), 0),
    outputTokens: known.outputTokens ?? Math.ceil(outputCharacters / charactersPerToken),
    source: missingAll ? "estimated" : "partial",
  };
}
