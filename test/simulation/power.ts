import type { Append } from "../../src/core/journal/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { Engine } from "./engine.ts";
import type { DiskJournal } from "./sqlite/store.ts";

interface Called {
  readonly method: string;
  readonly given: readonly unknown[];
}

/** Losses of power: what was acknowledged has to be there afterwards, and nothing else but what was under way. */
export class Power {
  readonly #engine: Engine;
  readonly #keep: (run: string, events: readonly RunEvent[]) => void;
  /** Tells that the machine is without power: nothing of it runs until `restart`. */
  onLoss: () => void = () => {};
  /** Runs whose start was stored. */
  readonly accepted = new Set<string>();
  /** Signals that were stored, by run. */
  readonly signals = new Map<string, string[]>();
  /** Calls that have begun and have no answer yet. */
  readonly #underWay = new Set<Called>();
  #isOff = false;

  constructor(engine: Engine, keep: (run: string, events: readonly RunEvent[]) => void) {
    this.#engine = engine;
    this.#keep = keep;
  }

  watch({ disk }: DiskJournal, called: Called, answer: Promise<unknown>): void {
    const { world, coverage } = this.#engine;
    const wasOff = this.#isOff;
    this.#underWay.add(called);
    const settled = () => this.#underWay.delete(called);
    answer.then(settled, () => disk.off || settled());
    if (!disk.off || wasOff) return;
    this.#isOff = true;
    world.note(`the power is lost during ${called.method}`);
    coverage.fault("power lost", called.method);
    this.onLoss();
  }

  /** The power is back. */
  async restart(sqlite: DiskJournal): Promise<void> {
    const { world, inner, events, spending } = this.#engine;
    const found = sqlite.restart(world.decisions);
    this.#isOff = false;
    if (found !== "ok") world.violated(`after a loss of power the file is damaged: ${found}`);
    const writing = new Set(
      [...this.#underWay].filter(({ method }) => method === "append").flatMap(({ given }) => runsIn(given)),
    );
    const removing = [...this.#underWay].filter(({ method }) => method === "prune");
    this.#underWay.clear();
    const isRemoved = (run: string) => this.#engine.isGone(run) || removing.some(({ given }) => removes(given, run));
    for (const run of this.accepted)
      if (!isRemoved(run) && (await inner.get(run)) === undefined)
        world.violated(`${run}: was accepted, and is lost by a loss of power`);
    for (const [run, known] of events) {
      if (isRemoved(run)) continue;
      const stored = await this.#readAll(run);
      const say = (what: string) => world.violated(`${run}: ${what} a loss of power`);
      if (stored.length < known.length) say(`${known.length - stored.length} events are lost by`);
      if (known.some((event, at) => JSON.stringify(event) !== JSON.stringify(stored[at]))) say("events differ after");
      if (stored.length > known.length && !writing.has(run)) say("has events that nobody wrote after");
      const further = stored.slice(known.length);
      this.#keep(run, further);
      for (const event of further) spending.stored(event);
      const kept = new Set((await inner.signals(run, 0)).map(({ id }) => id));
      if (this.signals.get(run)?.some((id) => !kept.has(id))) say("a signal is lost by");
    }
  }

  async #readAll(run: string): Promise<RunEvent[]> {
    const found: RunEvent[] = [];
    for (;;) {
      const page = await this.#engine.inner.read(run, found.length, 1_000);
      if (page.length === 0) return found;
      found.push(...page);
    }
  }
}

const runsIn = ([batch]: readonly unknown[]): string[] =>
  (batch as readonly Append[]).map(({ ownership }) => ownership.run);
const removes = ([options]: readonly unknown[], run: string): boolean =>
  (options as { runs?: readonly string[] }).runs?.includes(run) === true;
