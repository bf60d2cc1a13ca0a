import { createHash } from "node:crypto";
import { VenturiError } from "../core/errors.ts";
import type { BlobStore } from "../core/journal.ts";
import type { FilePart, ImagePart, Message, Part } from "../core/messages.ts";
import { type ContentChange, mapContent, someContent, someText } from "./content-parts.ts";

/** Longer base64 data and vendor texts go to the blob store; shorter ones stay inline. */
const inlineLimit = 16 * 1024;
/** Cache size in base64 characters, so that the rounds of a run read their files once. */
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
  readonly #recent = new Map<string, string>();
  #weight = 0;

  constructor(blobs: BlobStore | undefined) {
    this.#blobs = blobs;
  }

  /** Stores large content under the run and replaces it by hashes. Returns the same array if nothing changed. */
  async keep(run: string, messages: readonly Message[]): Promise<readonly Message[]> {
    for (const message of messages) for (const part of message.parts) checkSource(part);
    if (this.#blobs === undefined || !messages.some((message) => message.parts.some(isLarge))) return messages;
    const change: ContentChange = {
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

  /** Replaces hashes by their data. Returns the same array if there are none. */
  async load(messages: readonly Message[]): Promise<readonly Message[]> {
    if (!messages.some((message) => message.parts.some(isStored))) return messages;
    const change: ContentChange = {
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
    const hash = createHash("sha256").update(bytes).digest("hex");
    await this.#blobs?.put(run, hash, bytes);
    this.#remember(hash, bytes.toString("base64"));
    return hash;
  }

  /** As base64. */
  async #get(hash: string): Promise<string> {
    let data = this.#recent.get(hash);
    if (data === undefined) {
      const bytes = await this.#blobs?.get(hash);
      if (bytes === undefined) {
        const message = `the content ${hash} is not in the journal any more; send it again`;
        throw new VenturiError("journal.blob", "not_found", message);
      }
      data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
    }
    this.#remember(hash, data);
    return data;
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
  const wrong = ({ data, url, hash }: Content) => hash !== undefined || (data === undefined) === (url === undefined);
  if (!someContent(part, wrong) && !someText(part, isMarked)) return;
  const message = "an image or a file has either data (base64) or a url, and no hash";
  throw new VenturiError("run.start", "invalid_input", message);
}

const isMarked = (text: string): boolean => text.startsWith(marker);
const isLarge = (part: Part): boolean =>
  someContent(part, ({ data }) => (data?.length ?? 0) > inlineLimit) ||
  someText(part, (text) => text.length > inlineLimit);
const isStored = (part: Part): boolean =>
  someContent(part, ({ hash }) => hash !== undefined) || someText(part, isMarked);
