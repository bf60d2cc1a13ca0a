import { z } from "zod";
import type { KeyValue, KeyValues } from "../journal/key-values.ts";
import { RunInput } from "../run/event-fields.ts";

/** What happens when a schedule fires while its previous run is still executing. */
export const overlaps = ["skip", "queue", "cancel"] as const;

/** The latest time of a `Date`, ms since the epoch. */
const latest = 8.64e15;

/**
 * A schedule created at run time, by an API key or a tool (others are in the configuration). Its runs are started with the idempotency key
 * `schedule:NAME:TIME`, which is what makes each start happen exactly once.
 */
export const StoredSchedule = z.strictObject({
  name: z.string(),
  tenant: z.string(),
  agent: z.string(),
  input: RunInput,
  session: z.string().exactOptional(),
  metadata: z.record(z.string(), z.unknown()).exactOptional(),
  notify: z.strictObject({ webhook: z.string(), url: z.string().exactOptional() }).exactOptional(),
  /** A cron expression in a time zone, or a single time in ms since the epoch. */
  cron: z.string().exactOptional(),
  timezone: z.string(),
  at: z.number().max(latest).exactOptional(),
  overlap: z.enum(overlaps),
  jitter: z.number(),
  catchUp: z.number(),
  /** Id of the key that created it, its limit of concurrent runs, and the agents it is limited to. */
  by: z.string().exactOptional(),
  concurrentRuns: z.number().exactOptional(),
  agents: z.array(z.string()).readonly().exactOptional(),
  /** The run that created it with a tool, and how many such steps precede it. */
  origin: z.strictObject({ run: z.string(), call: z.string(), depth: z.number().int() }).exactOptional(),
  createdAt: z.number(),
  /** A one-time schedule that has fired. Kept while the run that made it may create more, which are counted. */
  done: z.literal(true).exactOptional(),
});
export type StoredSchedule = z.output<typeof StoredSchedule>;

const space = "schedules";
/** Changes with every modification, so that replicas need not list all schedules to find none. */
const changed = "changed";
const page = 200;

/** Schedules by tenant and name, in the journal's key-value store. */
export class StoredSchedules {
  readonly #values: KeyValues;

  constructor(values: KeyValues) {
    this.#values = values;
  }

  /** Grows with every change. */
  async version(): Promise<number> {
    return (await this.#values.get(space, changed))?.version ?? 0;
  }

  /** False if the name is taken. */
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

  /** False if there is none. */
  async remove(tenant: string, name: string): Promise<boolean> {
    const found = await this.#values.get(space, keyOf(tenant, name));
    if (found === undefined || !(await this.#values.remove(space, found.key, found.version))) return false;
    await this.#touch();
    return true;
  }

  /** All, or those of a tenant with this name prefix. One that cannot be read is left out, so that it stops no other. */
  async *all(
    of?: { readonly tenant: string; readonly prefix?: string },
    unreadable: (key: string) => void = () => {},
  ): AsyncGenerator<StoredSchedule> {
    const prefix = of === undefined ? "of/" : keyOf(of.tenant, of.prefix ?? "");
    let after: string | undefined;
    for (;;) {
      const found = await this.#values.list(space, { prefix, limit: page, ...(after === undefined ? {} : { after }) });
      for (const entry of found) {
        const schedule = read(entry);
        if (schedule !== undefined) yield schedule;
        else unreadable(entry.key);
      }
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
const read = ({ value }: KeyValue): StoredSchedule | undefined => StoredSchedule.safeParse(JSON.parse(value)).data;
