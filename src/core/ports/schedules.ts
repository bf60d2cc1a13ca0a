import { z } from "zod";
import type { KeyValue, KeyValues } from "../journal/key-values.ts";
import { RunInput } from "../run/event-parts.ts";

/** What happens when a time comes while the run of the last one is still under way. */
export const overlaps = ["skip", "queue", "cancel"] as const;

/**
 * A schedule that was made while the service runs, by a key or by a tool; those of the configuration are in the configuration.
 * Whoever starts its runs does so with the idempotency key `schedule:NAME:TIME`, and only that makes each start happen once.
 */
export const StoredSchedule = z.strictObject({
  name: z.string(),
  tenant: z.string(),
  agent: z.string(),
  input: RunInput,
  session: z.string().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
  notify: z.strictObject({ webhook: z.string(), url: z.string().exactOptional() }).exactOptional(),
  /** A cron expression in a time zone, or one moment: ms since the epoch. */
  cron: z.string().exactOptional(),
  timezone: z.string(),
  at: z.number().exactOptional(),
  overlap: z.enum(overlaps),
  jitter: z.number(),
  catchUp: z.number(),
  /** Id of the key that made it, and how many runs it may have at the same time. */
  by: z.string().exactOptional(),
  concurrentRuns: z.number().exactOptional(),
  /** The run that made it with a tool, and how many such steps lie behind it. */
  origin: z.strictObject({ run: z.string(), call: z.string(), depth: z.number().int() }).exactOptional(),
  createdAt: z.number(),
  /** Its only time has passed. Kept while the run that made it can make others, which counts them. */
  done: z.literal(true).exactOptional(),
});
export type StoredSchedule = z.output<typeof StoredSchedule>;

const space = "schedules";
/** Changes with every change of a schedule, so that replicas need not list them all to find none. */
const changed = "changed";
const page = 200;

/** Schedules by tenant and name, beside the journal. */
export class StoredSchedules {
  readonly #values: KeyValues;

  constructor(values: KeyValues) {
    this.#values = values;
  }

  /** Grows with every change. */
  async version(): Promise<number> {
    return (await this.#values.get(space, changed))?.version ?? 0;
  }

  /** False when there is one of that name. */
  async add(schedule: StoredSchedule): Promise<boolean> {
    const entry = { key: keyOf(schedule.tenant, schedule.name), value: JSON.stringify(schedule), version: 0 };
    if ((await this.#values.put(space, entry)) === undefined) return false;
    await this.#touch();
    return true;
  }

  async get(tenant: string, name: string): Promise<StoredSchedule | undefined> {
    const found = await this.#values.get(space, keyOf(tenant, name));
    return found && read(found);
  }

  async finish(schedule: StoredSchedule): Promise<void> {
    const found = await this.#values.get(space, keyOf(schedule.tenant, schedule.name));
    if (found === undefined) return;
    const value = JSON.stringify({ ...schedule, done: true });
    await this.#values.put(space, { key: found.key, value, version: found.version });
    await this.#touch();
  }

  /** False when there is none. */
  async remove(tenant: string, name: string): Promise<boolean> {
    const found = await this.#values.get(space, keyOf(tenant, name));
    if (found === undefined || !(await this.#values.remove(space, found.key, found.version))) return false;
    await this.#touch();
    return true;
  }

  /** All, or those of a tenant whose names begin with a text. */
  async *all(of?: { readonly tenant: string; readonly prefix?: string }): AsyncGenerator<StoredSchedule> {
    const prefix = of === undefined ? "of/" : keyOf(of.tenant, of.prefix ?? "");
    let after: string | undefined;
    for (;;) {
      const found = await this.#values.list(space, { prefix, limit: page, ...(after === undefined ? {} : { after }) });
      for (const entry of found) yield read(entry);
      after = found.at(-1)?.key;
      if (found.length < page) return;
    }
  }

  async #touch(): Promise<void> {
    for (;;) {
      const there = await this.#values.get(space, changed);
      const entry = { key: changed, value: "-", version: there?.version ?? 0 };
      if ((await this.#values.put(space, entry)) !== undefined) return;
    }
  }
}

const keyOf = (tenant: string, name: string): string => `of/${encodeURIComponent(tenant)}/${name}`;
const read = ({ value }: KeyValue): StoredSchedule => StoredSchedule.parse(JSON.parse(value));
