import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Message, Part } from "../../core/model/messages.ts";
import type { RunInput } from "../../core/run/event-fields.ts";

/** Converts what a person wrote and attached in the editor to a run's input. */
export function inputOf(blocks: readonly ContentBlock[]): RunInput {
  const parts = blocks.map(partOf);
  const isText = parts.every((part) => part.type === "text");
  if (isText) return { text: parts.map((part) => part.text).join("\n") };
  return { messages: [{ role: "user", parts }] };
}

function partOf(block: ContentBlock): Extract<Part, { type: "text" | "image" | "file" }> {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", mediaType: block.mimeType, data: block.data };
    case "audio":
      return { type: "file", mediaType: block.mimeType, data: block.data };
    case "resource_link":
      return { type: "text", text: `[${block.title ?? block.name}](${block.uri})` };
    case "resource": {
      const { uri, mimeType, ...content } = block.resource;
      // As text: editors embed source code, which every model can read.
      if ("text" in content) return { type: "text", text: `<file name="${uri}">\n${content.text}\n</file>` };
      return { type: "file", name: uri, mediaType: mimeType ?? "application/octet-stream", data: content.blob };
    }
  }
}

/** The user's input of an earlier run; `load` fetches blobs. */
export async function blocksOf(
  { text, messages = [] }: RunInput,
  load: (hash: string) => Promise<Uint8Array>,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = text === undefined ? [] : [{ type: "text", text }];
  const said = messages.filter(({ role }) => role === "user").flatMap(({ parts }: Message) => parts);
  for (const part of said) {
    if (part.type === "text") blocks.push({ type: "text", text: part.text });
    if (part.type === "file") blocks.push({ type: "text", text: `[${part.name ?? part.mediaType}]` });
    if (part.type !== "image") continue;
    const { mediaType, data, hash } = part;
    const bytes = data ?? (hash === undefined ? undefined : Buffer.from(await load(hash)).toString("base64"));
    if (bytes !== undefined) blocks.push({ type: "image", mimeType: mediaType, data: bytes });
  }
  return blocks;
}

export const textOfBlocks = (blocks: readonly ContentBlock[]): string =>
  blocks
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("\n")
    .trim();
