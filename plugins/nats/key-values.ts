import { mostListed } from "venturi/internal";
import type { KeyRange, KeyValue, KeyValues } from "venturi/plugin";
import { failed } from "./failures.ts";
import { type Names, untoken } from "./names.ts";
import { fence } from "./standing.ts";
import type { Store } from "./store.ts";
import { bytesOf, type Stored, textOf } from "./stored.ts";

const op = "journal.values";

/** One subject per key in the index stream; a version is the sequence of its last message. An empty one is a removed key. */
export class NatsKeyValues implements KeyValues {
  readonly #store: Store;
  readonly #names: Names;
  readonly #usable: () => Promise<void>;

  constructor({ store, names }: { readonly store: Store; readonly names: Names }, usable: () => Promise<void>) {
    this.#store = store;
    this.#names = names;
    this.#usable = usable;
  }

  async get(space: string, key: string): Promise<KeyValue | undefined> {
    await this.#usable();
    const found = await this.#store.last(op, this.#names.index, this.#names.value(space, key));
    return found && found.data.length > 0 ? entryOf(found) : undefined;
  }

  async put(space: string, { key, value, version }: KeyValue): Promise<number | undefined> {
    await this.#usable();
    return await this.#write(this.#names.value(space, key), value, version);
  }

  async remove(space: string, key: string, version: number): Promise<boolean> {
    await this.#usable();
    const subject = this.#names.value(space, key);
    const seq = version === 0 ? undefined : await this.#write(subject, "", version);
    if (seq === undefined) return false;
    // Purges only the removal marker: a value written meanwhile has a later sequence.
    await this.#store.api(op, `STREAM.PURGE.${this.#names.index}`, { filter: subject, seq: seq + 1 });
    return true;
  }

  async list(space: string, { prefix = "", after = "", limit = mostListed }: KeyRange = {}): Promise<KeyValue[]> {
    await this.#usable();
    const filter = this.#names.values(space);
    const last = await this.#store.last(op, this.#names.index, filter);
    const found: KeyValue[] = [];
    for await (const stored of this.#store.scan(op, this.#names.index, { filter, seq: 1, upTo: last?.seq ?? 0 })) {
      if (stored.data.length === 0) continue;
      const entry = entryOf(stored);
      if (entry.key.startsWith(prefix) && byBytes(entry.key, after) > 0) found.push(entry);
    }
    return found.sort((left, right) => byBytes(left.key, right.key)).slice(0, limit);
  }

  async #write(subject: string, value: string, version: number): Promise<number | undefined> {
    const write = { subject, fence: fence(version, subject), headers: "", data: bytesOf(value) };
    const ack = await this.#store.write(op, write);
    if (ack.kind === "stored") return ack.seq;
    if (ack.kind === "lost") throw failed(op, ack.why);
    if (version > 0) return undefined;
    // A removed key with an unpurged marker counts as absent.
    const mark = await this.#store.last(op, this.#names.index, subject);
    return mark?.data.length === 0 ? await this.#write(subject, value, mark.seq) : undefined;
  }
}

const entryOf = ({ subject, data, seq }: Stored): KeyValue => ({
  key: untoken(subject.slice(subject.lastIndexOf(".") + 1)),
  value: textOf(data),
  version: seq,
});

const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
