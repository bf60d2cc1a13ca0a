import type { FilePart, ImagePart, Message, Part } from "../../core/model/messages.ts";
import type { Capabilities } from "../../core/model/provider.ts";
import { takesFile } from "../run/capabilities.ts";
import { someContent } from "../run/content-parts.ts";

/**
 * Replaces images and files the model does not support with a note. Run input is checked before the start; this covers tool
 * results and sessions begun with another model.
 */
export function takeableBy(messages: readonly Message[], capabilities: Capabilities): readonly Message[] {
  const strange = (content: ImagePart | FilePart): boolean => !takes(capabilities, content);
  if (!messages.some(({ parts }) => parts.some((part) => someContent(part, strange)))) return messages;
  return messages.map((message) => ({ ...message, parts: message.parts.map((part) => noted(part, strange)) }));
}

const takes = (capabilities: Capabilities, content: ImagePart | FilePart): boolean =>
  content.type === "image" ? capabilities.vision : takesFile(capabilities, content.mediaType);

function noted(part: Part, strange: (content: ImagePart | FilePart) => boolean): Part {
  if (!someContent(part, strange)) return part;
  if (part.type === "image" || part.type === "file") return { type: "text", text: noteOn(part) };
  if (part.type !== "tool_result") return part;
  const { images = [], files = [], native: _, ...rest } = part;
  const notes = [...images, ...files].filter(strange).map(noteOn);
  const [seen, taken] = [images.filter((image) => !strange(image)), files.filter((file) => !strange(file))];
  return {
    ...rest,
    output: [part.output, ...notes].filter((line) => line !== "").join("\n"),
    ...(seen.length > 0 ? { images: seen } : {}),
    ...(taken.length > 0 ? { files: taken } : {}),
  };
}

function noteOn(content: ImagePart | FilePart): string {
  const name = content.type === "file" && content.name !== undefined ? `, ${content.name}` : "";
  return `[left out: ${content.type} of type ${content.mediaType}${name}, which this model does not take]`;
}
