import { webcrypto } from "node:crypto";
import { VenturiError } from "../../core/errors/errors.ts";
import type { BlobStore } from "../../core/journal/journal.ts";
import type { FilePart, ImagePart, Message, Part, TextPart } from "../../core/model/messages.ts";
import { type Clock, sleep, systemClock } from "../../core/ports/clock.ts";
import { beginning } from "../../core/run/digest.ts";
import { type ContentChange, mapContent, someContent, someText } from "./content-parts.ts";

/** Longer base64 data and vendor texts go to the blob store; shorter ones stay inline. */
const inlineLimit = 16 * 1024;
/** Longer texts of messages go there too, with so much of their beginning left to be shown. */
const textLimit = 64 * 1024;
const shown = 1_000;
/** Larger content is taken up at this rate, bytes a second: about as much time as it takes is left to others. */
const unpaced = 1024 * 1024;
const pacedRate = 64 * 1024 * 1024;
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

/** Images and files of runs: requests and events hold large ones by hash, providers get the data. */
export class ContentStore {
  readonly #blobs: BlobStore | undefined;
  readonly #clock: Clock;
  readonly #recent = new Map<string, string>();
  #weight = 0;
  /** When the next large content may be taken up. */
  #busyUntil = 0;

  constructor(blobs: BlobStore | undefined, clock: Clock = systemClock) {
    this.#blobs = blobs;
    this.#clock = clock;
  }

  /** Refuses hashes and markers, which only this service writes. For messages from outside. */
  check(messages: readonly Message[]): void {
    for (const message of messages) for (const part of message.parts) checkSource(part);
  }

  /** Stores large content under the run and replaces it by hashes. Returns the same array if nothing changed. */
  async keep(run: string, messages: readonly Message[]): Promise<readonly Message[]> {
    if (this.#blobs === undefined || !messages.some((message) => message.parts.some(isLarge))) return messages;
    const change: ContentChange = {
      part: (part) => this.#keepText(run, part),
      content: (part) => this.keepOne(run, part),
      text: async (text) => (text.length <= inlineLimit ? text : marker + (await this.#put(run, Buffer.from(text)))),
    };
    return mapContent(messages, change);
  }

  /** `item`, or a copy with a hash in place of its data. */
  async keepOne<T extends Content>(run: string, item: T): Promise<T> {
    const { data, ...rest } = item;
    if (this.#blobs === undefined || data === undefined || data.length <= inlineLimit) return item;
    const bytes = Buffer.from(data, "base64");
    const hash = await this.#put(run, bytes);
    return { ...rest, hash, size: bytes.length } as unknown as T; // T's data, hash and size are all optional
  }

  async #keepText(run: string, part: TextPart): Promise<TextPart> {
    const { text } = part;
    if (!isLong(part)) return part;
    const bytes = Buffer.from(text);
    const size = bytes.length;
    await this.#pace(size);
    const hash = await hashOf(bytes);
    await this.#blobs?.put(run, hash, bytes);
    this.#remember(textKey(hash), text);
    return { ...part, text: beginning(text, shown), hash, size };
  }

  async #loadText(part: TextPart): Promise<TextPart> {
    const { hash, size: _, ...rest } = part;
    if (hash === undefined) return part;
    let text = this.#recent.get(textKey(hash));
    if (text === undefined) text = Buffer.from(await this.#bytes(hash)).toString();
    this.#remember(textKey(hash), text);
    await this.#pace(text.length);
    return { ...rest, text };
  }

  /** Replaces hashes by their data. Returns the same array if there are none. */
  async load(messages: readonly Message[]): Promise<readonly Message[]> {
    if (!messages.some((message) => message.parts.some(isStored))) return messages;
    const change: ContentChange = {
      part: (part) => this.#loadText(part),
      content: (part) => this.#loadOne(part),
      text: async (text) =>
        isMarked(text) ? Buffer.from(await this.#get(text.slice(marker.length)), "base64").toString() : text,
    };
    return mapContent(messages, change);
  }

  async #loadOne<T extends ImagePart | FilePart>(part: T): Promise<T> {
    const { hash, size: _, ...rest } = part;
    return hash === undefined ? part : ({ ...rest, data: await this.#get(hash) } as T); // the same part in another form
  }

  async #put(run: string, bytes: Buffer): Promise<string> {
    const hash = await hashOf(bytes);
    this.#remember(hash, bytes.toString("base64"));
    await this.#blobs?.put(run, hash, bytes);
    return hash;
  }

  /** As base64. */
  async #get(hash: string): Promise<string> {
    const data = this.#recent.get(hash) ?? (await this.#bytes(hash)).toString("base64");
    this.#remember(hash, data);
    await this.#pace(data.length);
    return data;
  }

  /** A blob for a reader. */
  async read(hash: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#blobs?.get(hash);
    if (bytes !== undefined) await this.#pace(bytes.length);
    return bytes;
  }

  /** Encoding and copying large content takes this process's one thread: what is small gets its turn in between. */
  async #pace(size: number): Promise<void> {
    if (size < unpaced) return;
    const now = this.#clock.monotonic();
    const start = Math.max(now, this.#busyUntil);
    this.#busyUntil = start + (size / pacedRate) * 1_000;
    if (start > now) await sleep(this.#clock, start - now);
  }

  async #bytes(hash: string): Promise<Buffer> {
    const bytes = await this.#blobs?.get(hash);
    if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const message = `the content ${hash} is not in the journal any more; send it again`;
    throw new VenturiError("journal.blob", "not_found", message);
  }

  #remember(hash: string, data: string): void {
    if (this.#recent.delete(hash)) this.#weight -= data.length;
    this.#recent.set(hash, data);
    this.#weight += data.length;
    for (const [oldest, content] of this.#recent) {
      if (this.#weight <= remembered) break;
      this.#recent.delete(oldest);
      this.#weight -= content.length;
    }
  }
}

/** Hashes are issued by this service only: a client that could send one could read another client's content. */
function checkSource(part: Part): void {
  if (part.type === "text" && (part.hash !== undefined || part.size !== undefined)) {
    throw new VenturiError("run.start", "invalid_input", "a text has no hash and no size: send it as it is");
  }
  const wrong = ({ data, url, hash }: Content) => hash !== undefined || (data === undefined) === (url === undefined);
  if (!someContent(part, wrong) && !someText(part, isMarked)) return;
  const message = "an image or a file has either data (base64) or a url, and no hash";
  throw new VenturiError("run.start", "invalid_input", message);
}

const isMarked = (text: string): boolean => text.startsWith(marker);
/** A text with half a surrogate pair would not come back from its bytes as it was. */
const isLong = ({ text, hash }: TextPart): boolean =>
  hash === undefined && text.length > textLimit && text.isWellFormed();
const isLarge = (part: Part): boolean =>
  (part.type === "text" && isLong(part)) ||
  someContent(part, ({ data }) => (data?.length ?? 0) > inlineLimit) ||
  someText(part, (text) => text.length > inlineLimit);
const isStored = (part: Part): boolean =>
  (part.type === "text" && part.hash !== undefined) ||
  someContent(part, ({ hash }) => hash !== undefined) ||
  someText(part, isMarked);
const textKey = (hash: string): string => `text ${hash}`;

/** In another thread: a large file takes a tenth of a second. */
const hashOf = async (bytes: Buffer): Promise<string> =>
  Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes as Buffer<ArrayBuffer>)).toString("hex");
