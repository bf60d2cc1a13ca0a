import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type KeyValues, VenturiError } from "venturi/plugin";

const space = "mcp-oauth";
const attempts = 8;

/** Documents in the journal's key-value store, encrypted (AES-256-GCM) with a key from the configuration and bound to their name. */
export class Sealed {
  readonly #values: KeyValues;
  readonly #key: Buffer;

  constructor(values: KeyValues, secret: string) {
    this.#values = values;
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "venturi mcp oauth", 32));
  }

  async read<T extends object>(name: string): Promise<Partial<T>> {
    const found = await this.#values.get(space, name);
    return found === undefined ? {} : this.#open(name, found.value);
  }

  /** Changes the newest version, even if other replicas do so concurrently. */
  async change<T extends object>(name: string, change: (kept: Partial<T>) => Partial<T>): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const found = await this.#values.get(space, name);
      const next = change(found === undefined ? {} : this.#open(name, found.value));
      const entry = { key: name, value: this.#seal(name, next), version: found?.version ?? 0 };
      if ((await this.#values.put(space, entry)) !== undefined) return;
    }
    throw new VenturiError("tool.call", "conflict", "the credentials are changed by too many at once; try again");
  }

  #seal(name: string, value: object): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(name));
    const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
  }

  /** Cannot be read with another key: the user then signs in again. */
  #open<T extends object>(name: string, sealed: string): Partial<T> {
    const bytes = Buffer.from(sealed, "base64");
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, 12)).setAAD(Buffer.from(name));
      decipher.setAuthTag(bytes.subarray(12, 28));
      const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
      return JSON.parse(text.toString()) as Partial<T>; // Written by `#seal`.
    } catch {
      return {};
    }
  }
}

/** Stores which question a sign-in belongs to, for the channel that receives the redirect; not secret. */
export const noteState = async (values: KeyValues, hash: string, question: object): Promise<void> => {
  await values.put(space, { key: `state/${hash}`, value: JSON.stringify(question), version: 0 });
};

export const forgetState = async (values: KeyValues, hash: string): Promise<void> => {
  const found = await values.get(space, `state/${hash}`);
  if (found !== undefined) await values.remove(space, found.key, found.version);
};
