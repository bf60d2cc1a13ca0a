import type { CallToolResult } from "@modelcontextprotocol/client";
import { RichOutput, type ToolFile, type ToolImage, VenturiError } from "venturi/plugin";

type Block = CallToolResult["content"][number];

/** The result for the model: text of the blocks, plus images and files. Throws for an error result. */
export function toOutput(answer: object, redact: (text: string) => string): unknown {
  const result = answer as CallToolResult; // validated by the library
  const blocks = result.content ?? [];
  const images: ToolImage[] = blocks.flatMap((block) =>
    block.type === "image" ? [{ mediaType: block.mimeType, data: block.data }] : [],
  );
  const lines = blocks.map(textOf).filter((line) => line !== undefined);
  const said = lines.join("\n");
  const text = redact(said.trim() === "" ? (JSON.stringify(result.structuredContent) ?? said) : said);
  if (result.isError === true) throw new VenturiError("tool.call", "tool_failed", text || "the tool reported an error");
  const files = blocks.flatMap(fileOf);
  return images.length + files.length === 0 ? text : new RichOutput(text, images, files);
}

/** Resources that models accept as files; for other kinds the model gets the URI. */
function fileOf(block: Block): ToolFile[] {
  if (block.type !== "resource" || !("blob" in block.resource)) return [];
  const { mimeType, blob, uri } = block.resource;
  return mimeType === "application/pdf" ? [{ mediaType: mimeType, data: blob, name: uri.replace(/^.*\//, "") }] : [];
}

function textOf(block: Block): string | undefined {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return undefined;
    case "audio":
      return `[audio, ${block.mimeType}]`;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    case "resource":
      return "text" in block.resource
        ? block.resource.text
        : `[${block.resource.mimeType ?? "data"}: ${block.resource.uri}]`;
  }
}
