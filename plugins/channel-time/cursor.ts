import { type Clock, type Journal, type KeyValues, type RunRow, VenturiError } from "venturi/plugin";
import { space } from "./lanes.ts";

const key = "cursor";
const page = 100;
/** Replicas commit concurrently, so a run may become visible after one stored later. Pages are read again after this, ms. */
const settling = 30_000;

interface Stored {
  /** Absent: from the beginning. */
  readonly cursor?: string;
  /** The only run that existed when the first webhook was configured. */
  readonly skip?: string;
  /** The last step, whose runs may not all be marked as passed yet. */
  readonly passing?: Step;
}

/** A page of the run list: from a cursor to its last run, and the cursor after it. */
interface Step {
  readonly from?: string;
  readonly last: string;
  readonly to: string;
}

export interface CursorTarget {
  /** Called with a run that may be new; repeated until the cursor has passed it. */
  meet(row: RunRow): Promise<void>;
  /** Called when the cursor has passed the run for good. */
  pass(run: string): Promise<void>;
}

/**
 * A durable position in the list of all runs, in order of arrival. Runs are handled as soon as they are seen; the stored position follows
 * half a minute later, after reading the same page again.
 */
export class RunCursor {
  readonly #journal: Journal;
  readonly #values: KeyValues;
  readonly #clock: Clock;
  readonly #target: CursorTarget;
  #stored: { value: Stored; version: number } | undefined;
  #tip: string | undefined;
  #steps: (Step & { readonly at: number })[] = [];

  constructor(deps: { journal: Journal; values: KeyValues; clock: Clock }, target: CursorTarget) {
    this.#journal = deps.journal;
    this.#values = deps.values;
    this.#clock = deps.clock;
    this.#target = target;
  }

  /** Sets where the first webhook begins, before the service accepts runs. Another replica may have done it. */
  async begin(): Promise<void> {
    if ((await this.#values.get(space, key)) !== undefined) return;
    await this.#values.put(space, { key, value: JSON.stringify(await this.#end()), version: 0 });
  }

  async open(): Promise<void> {
    await this.begin();
    const found = await this.#values.get(space, key);
    const value = JSON.parse(found?.value ?? "{}") as Stored; // Written by this class.
    this.#stored = { value, version: found?.version ?? 0 };
    this.#tip = value.cursor;
    this.#steps = [];
    // Passed but not met: their delivered state is gone, so meeting them would notify again.
    const before = value.passing === undefined ? [] : await this.#rowsOf(value.passing);
    for (const { run } of before) await this.#target.pass(run);
  }

  /** Handles everything new, and advances the stored position. */
  async advance(): Promise<void> {
    for (;;) {
      const from = this.#tip;
      const { runs, cursor } = await this.#list(from);
      for (const row of runs) await this.#meet(row);
      const last = runs.at(-1)?.run;
      if (cursor === undefined || last === undefined) break;
      this.#steps.push({ ...(from === undefined ? {} : { from }), last, to: cursor, at: this.#clock.monotonic() });
      this.#tip = cursor;
    }
    await this.#passSettled();
  }

  async #passSettled(): Promise<void> {
    for (;;) {
      const [first] = this.#steps;
      if (first === undefined || this.#clock.monotonic() - first.at < settling) return;
      const { at: _, ...step } = first;
      const rows = await this.#rowsOf(step, (row) => this.#meet(row));
      await this.#store({ cursor: step.to, passing: step });
      this.#steps.shift();
      for (const { run } of rows) await this.#target.pass(run);
    }
  }

  /** The runs of a step, including those that became visible since; none when its last run is gone, which leaves their lanes. */
  async #rowsOf({ from, last }: Step, see: (row: RunRow) => Promise<void> = async () => {}): Promise<RunRow[]> {
    const found: RunRow[] = [];
    let cursor = from;
    for (let pages = 0; pages < 3; pages++) {
      const listed = await this.#list(cursor);
      for (const row of listed.runs) {
        await see(row);
        found.push(row);
        if (row.run === last) return found;
      }
      if (listed.cursor === undefined) break;
      cursor = listed.cursor;
    }
    return [];
  }

  async #meet(row: RunRow): Promise<void> {
    if (row.run !== this.#stored?.value.skip) await this.#target.meet(row);
  }

  #list(cursor: string | undefined) {
    return this.#journal.list({ oldestFirst: true, limit: page, ...(cursor === undefined ? {} : { cursor }) });
  }

  /** The position after the newest run: a new webhook should not report all past runs. */
  async #end(): Promise<Stored> {
    const { runs, cursor } = await this.#journal.list({ limit: 1 });
    const only = runs[0]?.run;
    return cursor === undefined ? (only === undefined ? {} : { skip: only }) : { cursor };
  }

  async #store(value: Stored): Promise<void> {
    const entry = { key, value: JSON.stringify(value), version: this.#stored?.version ?? 0 };
    const version = await this.#values.put(space, entry);
    if (version === undefined) throw new VenturiError("webhook.cursor", "conflict", "another replica delivers now");
    this.#stored = { value, version };
  }
}
