import { VenturiError } from "../../core/errors/errors.ts";
import type { BlobStore } from "../../core/journal/journal.ts";
import type { FilePart, ImagePart, Message, Part } from "../../core/model/messages.ts";
import { beginning } from "../../core/run/digest.ts";
import { type ContentChange, isTextual, mapContent, someContent, someText, type Textual } from "./content-parts.ts";
import { base64OfPieces, bytesOfBase64, bytesOfText, hashOf, piecesOf, textOfPieces } from "./large-bytes.ts";

/** Longer base64 data and vendor texts go to the blob store; shorter ones stay inline. */
const inlineLimit = 16 * 1024;
/** Longer message texts go to the blob store too, leaving their first `shown` characters inline as a preview. */
const textLimit = 64 * 1024;
/** When the texts of all messages together exceed this, shorter ones go there too. */
const muchText = 1024 * 1024;
const shorterLimit = 4 * 1024;
const shown = 1_000;
/** Cache size in characters, so that the rounds of a run read their files once. */
const remembered = 64 * 1024 * 1024;
/** Placeholder prefix for a text in a vendor's part; input from clients cannot start with it. */
const marker = "\u0000venturi:sha256:";

interface Content {
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly hash?: string;
}

interface Stored {
  readonly hash: string;
  readonly size: number;
}

/** Stores images, files and long texts of runs: requests and events hold large ones by hash, providers get the data. */
export class ContentStore {
  readonly #blobs: BlobStore | undefined;
  readonly #recent = new Map<string, string>();
  #weight = 0;

  constructor(blobs: BlobStore | undefined) {
    this.#blobs = blobs;
  }

  /** Whether there is a blob store. */
  get isApart(): boolean {
    return this.#blobs !== undefined;
  }

  /** Refuses hashes and markers, which only this service writes. For messages from outside. */
  check(messages: readonly Message[]): void {
    for (const message of messages) for (const part of message.parts) checkSource(part);
  }

  /** Stores large content under the run and replaces it by hashes. Returns the same array if nothing changed. */
  async keep(run: string, messages: readonly Message[]): Promise<readonly Message[]> {
    const limit = charactersIn(messages) > muchText ? shorterLimit : textLimit;
    const isLarge = (part: Part) => isLargePart(part, limit);
    if (this.#blobs === undefined || !messages.some((message) => message.parts.some(isLarge))) return messages;
    const change: ContentChange = {
      part: (part) => this.#keepText(run, part, limit),
      content: (part) => this.keepOne(run, part),
      text: async (text) => (text.length <= inlineLimit ? text : marker + (await this.#put(run, textKey, text)).hash),
    };
    return mapContent(messages, change);
  }

  /** `item`, or a copy with a hash in place of its data. */
  async keepOne<T extends Content>(run: string, item: T): Promise<T> {
    const { data, ...rest } = item;
    if (this.#blobs === undefined || data === undefined || data.length <= inlineLimit) return item;
    return { ...rest, ...(await this.#put(run, dataKey, data)) } as unknown as T; // T's data, hash and size are all optional
  }

  /** Where a tool's large output is; undefined when it stays in its event. */
  async keepOutput(run: string, text: string): Promise<Stored | undefined> {
    return this.#blobs !== undefined && mayMove(text, textLimit) ? await this.#put(run, textKey, text) : undefined;
  }

  /** Reads what `keepOutput` stored. */
  output(hash: string): Promise<string> {
    return this.#get(textKey, hash);
  }

  async #keepText<T extends Textual>(run: string, part: T, limit: number): Promise<T> {
    if (!isLong(part, limit)) return part;
    const text = textOf(part);
    return { ...withText(part, beginning(text, shown)), ...(await this.#put(run, textKey, text)) };
  }

  async #loadText<T extends Textual>(part: T): Promise<T> {
    const { hash, size: _, ...rest } = part;
    return hash === undefined ? part : withText(rest as T, await this.#get(textKey, hash)); // T's hash and size are optional
  }

  /** Replaces hashes by their data. Returns the same array if there are none. */
  async load(messages: readonly Message[]): Promise<readonly Message[]> {
    if (!messages.some((message) => message.parts.some(isStored))) return messages;
    const change: ContentChange = {
      part: (part) => this.#loadText(part),
      content: (part) => this.#loadOne(part),
      text: async (text) => (isMarked(text) ? await this.#get(textKey, text.slice(marker.length)) : text),
    };
    return mapContent(messages, change);
  }

  async #loadOne<T extends ImagePart | FilePart>(part: T): Promise<T> {
    const { hash, size: _, ...rest } = part;
    return hash === undefined ? part : ({ ...rest, data: await this.#get(dataKey, hash) } as T); // Same part, with data instead of a hash.
  }

  /** Stores texts as UTF-8, and base64 data as its decoded bytes. */
  async #put(run: string, key: Key, given: string): Promise<Stored> {
    // A lone surrogate has no UTF-8 encoding: replace it now, so that later reads agree with this text.
    const content = key === textKey ? given.toWellFormed() : given;
    const bytes = await (key === textKey ? bytesOfText(content) : bytesOfBase64(content));
    const hash = await hashOf(bytes);
    await this.#blobs?.put(run, hash, bytes);
    this.#remember(key(hash), key === textKey ? content : await base64OfPieces(piecesOf(bytes)));
    return { hash, size: bytes.length };
  }

  async #get(key: Key, hash: string): Promise<string> {
    let content = this.#recent.get(key(hash));
    if (content === undefined) {
      const pieces = await this.pieces(hash);
      if (pieces === undefined) {
        const message = `the content ${hash} is not in the journal any more; send it again`;
        throw new VenturiError("journal.blob", "not_found", message);
      }
      content = await (key === textKey ? textOfPieces(pieces) : base64OfPieces(pieces));
    }
    this.#remember(key(hash), content);
    return content;
  }

  /** Streams a blob; undefined when it does not exist. */
  async pieces(hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    if (this.#blobs?.pieces !== undefined) return await this.#blobs.pieces(hash);
    const bytes = await this.#blobs?.get(hash);
    return bytes && piecesOf(bytes);
  }

  #remember(key: string, content: string): void {
    const before = this.#recent.get(key);
    if (before !== undefined) this.#weight -= before.length;
    this.#recent.delete(key);
    this.#recent.set(key, content);
    this.#weight += content.length;
    for (const [oldest, { length }] of this.#recent) {
      if (this.#weight <= remembered) break;
      this.#recent.delete(oldest);
      this.#weight -= length;
    }
  }
}

/** Hashes are issued by this service only: a client that could send one could read another client's content. */
function checkSource(part: Part): void {
  if (isTextual(part) && (part.hash !== undefined || part.size !== undefined)) {
    throw new VenturiError("run.start", "invalid_input", "a text has no hash and no size: send it as it is");
  }
  const wrong = ({ data, url, hash }: Content) => hash !== undefined || (data === undefined) === (url === undefined);
  if (!someContent(part, wrong) && !someText(part, isMarked)) return;
  const message = "an image or a file has either data (base64) or a url, and no hash";
  throw new VenturiError("run.start", "invalid_input", message);
}

const isMarked = (text: string): boolean => text.startsWith(marker);
const mayMove = (text: string, limit: number): boolean => text.length > limit;
const isLong = (part: Textual, limit: number): boolean => part.hash === undefined && mayMove(textOf(part), limit);
const isLargePart = (part: Part, limit: number): boolean =>
  (isTextual(part) && isLong(part, limit)) ||
  someContent(part, ({ data }) => (data?.length ?? 0) > inlineLimit) ||
  someText(part, (text) => text.length > inlineLimit);
const isStored = (part: Part): boolean =>
  (isTextual(part) && part.hash !== undefined) ||
  someContent(part, ({ hash }) => hash !== undefined) ||
  someText(part, isMarked);

const textOf = (part: Textual): string => (part.type === "text" ? part.text : part.output);
const withText = <T extends Textual>(part: T, text: string): T => ({
  ...part,
  ...(part.type === "text" ? { text } : { output: text }),
});
const charactersIn = (messages: readonly Message[]): number =>
  messages.reduce(
    (sum, { parts }) => parts.reduce((more, part) => more + (isTextual(part) ? textOf(part).length : 0), sum),
    0,
  );

/** Cache key for a hash: for the text, or for the data in base64. */
type Key = (hash: string) => string;
const textKey: Key = (hash) => `text ${hash}`;
const dataKey: Key = (hash) => hash;
