import { laneKey, type Notified, notifySpace as space } from "venturi/internal";
import type { KeyValue, KeyValues } from "venturi/plugin";
import type { Message } from "./message.ts";

export { notifySpace as space } from "venturi/internal";

const page = 50;

/**
 * Delivery state of one run for one webhook. Exists from when the run is found until its end is delivered, so that pending work is in the
 * journal and not in memory.
 */
export interface Lane extends Notified {
  readonly webhook: string;
  readonly run: string;
  /** Absent in lanes of earlier versions. */
  readonly tenant?: string;
  /** Position of the last message delivered or given up; everything up to it is done. */
  readonly place: number;
  /** The next message, stored once it has failed: the run may be pruned before it succeeds. */
  readonly pending?: Message;
  readonly attempts: number;
  /** Wall clock, ms; a hint for other replicas. */
  readonly retryAt?: number;
  readonly error?: string;
  /** No further message follows. Kept until the cursor has passed the run, so that it does not start again. */
  readonly done?: true;
  /** The cursor has passed the run. */
  readonly passed?: true;
  /** A dead letter being sent again: only `pending` is delivered. */
  readonly replayed?: true;
}

export interface StoredLane {
  readonly lane: Lane;
  readonly key: string;
  readonly version: number;
}

export interface DeadLetter extends Notified {
  readonly webhook: string;
  readonly run: string;
  readonly tenant?: string;
  readonly message: Message;
  readonly attempts: number;
  readonly error: string;
  readonly at: number;
}

export class Lanes {
  readonly #values: KeyValues;

  constructor(values: KeyValues) {
    this.#values = values;
  }

  async begin(lane: Lane): Promise<boolean> {
    const entry = { key: laneKey(lane.webhook, lane.run), value: JSON.stringify(lane), version: 0 };
    return (await this.#values.put(space, entry)) !== undefined;
  }

  async get(webhook: string, run: string): Promise<StoredLane | undefined> {
    const found = await this.#values.get(space, laneKey(webhook, run));
    return found && laneIn(found);
  }

  async page(webhook: string, after?: string): Promise<StoredLane[]> {
    const prefix = laneKey(webhook, "");
    const found = await this.#values.list(space, { prefix, limit: page, ...(after === undefined ? {} : { after }) });
    return found.map(laneIn);
  }

  /** The stored lane, or undefined if another replica changed it. A finished lane that the cursor has passed is removed. */
  async keep({ key, version }: StoredLane, lane: Lane): Promise<StoredLane | undefined> {
    if (lane.done && lane.passed) {
      await this.#values.remove(space, key, version);
      return undefined;
    }
    const next = await this.#values.put(space, { key, value: JSON.stringify(lane), version });
    return next === undefined ? undefined : { key, lane, version: next };
  }

  async count(webhook: string, most: number): Promise<number> {
    const found = await this.#values.list(space, { prefix: laneKey(webhook, ""), limit: most });
    return found.filter(({ value }) => !value.includes('"done":true')).length;
  }

  /** Stores a letter once, however often it is given up. */
  async bury(letter: DeadLetter): Promise<void> {
    const key = deadKey(letter.webhook, letter.message.id);
    const found = await this.#values.get(space, key);
    await this.#values.put(space, { key, value: JSON.stringify(letter), version: found?.version ?? 0 });
  }

  async letters(webhook: string, after?: string, limit = page): Promise<{ key: string; letter: DeadLetter }[]> {
    const prefix = deadKey(webhook, "");
    const found = await this.#values.list(space, {
      prefix,
      limit,
      ...(after === undefined ? {} : { after: deadKey(webhook, after) }),
    });
    return found.map(({ key, value }) => ({ key, letter: JSON.parse(value) as DeadLetter })); // Written from one.
  }

  async letter(webhook: string, id: string): Promise<DeadLetter | undefined> {
    const found = await this.#values.get(space, deadKey(webhook, id));
    return found && (JSON.parse(found.value) as DeadLetter); // Written from one.
  }

  /** Sends it in its own lane. The letter is removed last: a crash in between sends it once more, under the same id. */
  async replay(letter: DeadLetter): Promise<void> {
    const { webhook, message, url, headers, tenant } = letter;
    const lane = { webhook, run: `replay:${message.id}`, place: 0, pending: message, attempts: 0 } as const;
    await this.begin({
      ...lane,
      passed: true,
      replayed: true,
      ...(tenant === undefined ? {} : { tenant }),
      ...(url === undefined ? {} : { url }),
      ...(headers && { headers }),
    });
    await this.drop(webhook, message.id);
  }

  async drop(webhook: string, id: string): Promise<boolean> {
    const found = await this.#values.get(space, deadKey(webhook, id));
    return found !== undefined && (await this.#values.remove(space, found.key, found.version));
  }
}

const deadKey = (webhook: string, id: string): string => `dead/${webhook}/${id}`;
const laneIn = ({ key, value, version }: KeyValue): StoredLane => ({ key, version, lane: JSON.parse(value) as Lane }); // Written from one.
