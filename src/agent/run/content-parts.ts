import type { FilePart, ImagePart, Message, Part, TextPart, ToolResultPart } from "../../core/model/messages.ts";

/** A part whose text may be long. */
export type Textual = TextPart | ToolResultPart;

export const isTextual = (part: Part): part is Textual => part.type === "text" || part.type === "tool_result";

/** How to map each image, file and text part, and text inside a vendor's part or fields. */
export interface ContentChange {
  part<T extends Textual>(part: T): Promise<T>;
  content<T extends ImagePart | FilePart>(part: T): Promise<T>;
  text(text: string): Promise<string>;
}

export async function mapContent(messages: readonly Message[], change: ContentChange): Promise<Message[]> {
  const out: Message[] = [];
  for (const message of messages) {
    const parts: Part[] = [];
    for (const part of message.parts) parts.push(await mapPart(part, change));
    out.push({ ...message, parts });
  }
  return out;
}

async function mapPart(part: Part, change: ContentChange): Promise<Part> {
  if (part.type === "opaque") return { ...part, data: await mapTexts(part.data, change) };
  if (part.type === "reasoning") return part;
  const changed = await mapOwn(part, change);
  const { native } = changed;
  const own = native && {
    native: { ...native, fields: (await mapTexts(native.fields, change)) as typeof native.fields },
  }; // An object maps to an object.
  if (changed.type !== "tool_result") return { ...changed, ...own };
  const { images, files } = changed;
  return {
    ...changed,
    ...own,
    ...(images === undefined ? {} : { images: await inOrder(images, change) }),
    ...(files === undefined ? {} : { files: await inOrder(files, change) }),
  };
}

type Mapped = Exclude<Part, { type: "opaque" | "reasoning" }>;

async function mapOwn(part: Mapped, change: ContentChange): Promise<Mapped> {
  if (isTextual(part)) return await change.part(part);
  return part.type === "image" || part.type === "file" ? await change.content(part) : part;
}

async function inOrder<T extends ImagePart | FilePart>(items: readonly T[], change: ContentChange): Promise<T[]> {
  const out: T[] = [];
  for (const item of items) out.push(await change.content(item));
  return out;
}

async function mapTexts(value: unknown, change: ContentChange): Promise<unknown> {
  if (typeof value === "string") return change.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => mapTexts(item, change)));
  const entries = Object.entries(value).map(async ([key, item]) => [key, await mapTexts(item, change)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Whether any image or file of the part, including those in tool results, satisfies the test. */
export function someContent(part: Part, test: (content: ImagePart | FilePart) => boolean): boolean {
  if (part.type === "image" || part.type === "file") return test(part);
  return part.type === "tool_result" && ((part.images?.some(test) || part.files?.some(test)) ?? false);
}

/** Whether any text inside a vendor's part or fields satisfies the test. */
export function someText(part: Part, test: (text: string) => boolean): boolean {
  if (part.type === "opaque") return hasText(part.data, test);
  return part.type !== "reasoning" && part.native !== undefined && hasText(part.native.fields, test);
}

function hasText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === "string") return test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => hasText(item, test));
}
