import { createHash } from "node:crypto";
import { memberOf } from "../../agent/run/split.ts";
import { messageOf, wrap } from "../../core/errors/errors.ts";
import type { Claim, Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { shadowTenant } from "../../core/run/shadow.ts";
import { type EvalRuns, evaluate } from "../../evals/evaluate.ts";
import type { Measured } from "../../evals/scoring/run-set.ts";
import type { ShadowNote } from "../../evals/shadow-note.ts";
import { holdingHistory } from "../../journal/history.ts";
import { changeNotes } from "../../journal/notes.ts";
import type { Revisions } from "../revisions/revisions.ts";
import type { RunWatcher } from "../runs/executor.ts";
import { DueRuns, lease, type StoredDue } from "./due.ts";

export interface ShadowParts {
  readonly journal: Journal;
  readonly runs: Runs;
  readonly revisions: Pick<Revisions, "current">;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs executing here, and how many may. */
  active(): number;
  readonly most: number;
}

/** Maximum waiting here; others are found in the journal later. */
const mostWaiting = 200;
/** Interval for finding runs left by dead processes, ms. */
const period = 15_000;
const mostAttempts = 3;
/** Pause while a budget is exhausted, ms. */
const pause = 60_000;
/** Maximum characters of an answer shown next to the live run. */
const mostShown = 1_000;

/**
 * Repeats some live runs on another model, after their end and one at a time. Tools return what they returned to the live run; nothing is
 * executed. Costs live runs nothing but noting the id of those chosen.
 */
export class Shadows implements RunWatcher {
  readonly #parts: ShadowParts;
  readonly #due: DueRuns | undefined;
  /** Chosen runs executing here, with their entry in the journal. */
  readonly #chosen = new Map<string, Promise<StoredDue | undefined>>();
  readonly #waiting = new Map<string, Promise<StoredDue | undefined>>();
  /** Entries of `models` whose budget is exhausted, and until when. */
  readonly #paused = new Map<string, number>();
  readonly #stopping = new AbortController();
  #working: Promise<void> | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;
  #stopTimer = () => {};

  constructor(parts: ShadowParts) {
    this.#parts = parts;
    const { keyValues } = parts.journal;
    this.#due = keyValues && new DueRuns(keyValues);
    // Soon after a restart, but not during it.
    this.#lookLater(1_000);
  }

  began(claim: Claim): void {
    const { run } = claim.ownership;
    const model = this.#modelOf(claim);
    if (model === undefined || this.#due === undefined) return;
    if (!this.#isLooking) this.#lookLater();
    const noted = this.#due.choose({ run, model, at: this.#parts.clock.now() }).catch((thrown: unknown) => {
      this.#warn("a run cannot be noted for its shadow", { run, error: messageOf(thrown) });
      return undefined;
    });
    this.#chosen.set(run, noted);
  }

  left(run: string): void {
    const noted = this.#chosen.get(run);
    this.#chosen.delete(run);
    if (noted === undefined || this.#waiting.size >= mostWaiting) return;
    this.#waiting.set(run, noted);
    this.#work();
  }

  /** Resolves when nothing is in progress. The next process continues with the rest. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#stopTimer();
    await this.#looking;
    await this.#working;
  }

  /** The entry of `models` whose shadow the run gets; the same on every replica. */
  #modelOf({ tenant, request, ownership, unreadable }: Claim): string | undefined {
    const { parent, fork, shadow, remember } = request;
    if ((parent ?? fork ?? shadow ?? remember ?? unreadable) !== undefined) return undefined;
    const agent = this.#parts.revisions.current.agents.get(request.agent);
    if (agent === undefined) return undefined;
    const chosen = agent.overrides.models.get(request.model ?? "") ?? agent.model;
    const model = memberOf(chosen, { tenant, request, run: ownership.run });
    return model.shadow !== undefined && isSampled(ownership.run, model.shadow.share) ? model.name : undefined;
  }

  #work(): void {
    this.#working ??= this.#workThrough()
      .catch((thrown: unknown) => this.#warn("shadows are behind", { error: messageOf(thrown) }))
      .finally(() => {
        this.#working = undefined;
        if (this.#waiting.size > 0 && !this.#stopping.signal.aborted) this.#work();
      });
  }

  async #workThrough(): Promise<void> {
    for (const [run, noted] of this.#waiting) {
      if (this.#stopping.signal.aborted) return;
      await this.#roomForOne();
      this.#waiting.delete(run);
      await this.#one(run, await noted);
    }
  }

  /** Live runs have priority: shadows wait while those fill half of the process. */
  async #roomForOne(): Promise<void> {
    const { active, most, clock } = this.#parts;
    const { signal } = this.#stopping;
    while (active() > most / 2 && !signal.aborted) await new Promise<void>((resolve) => clock.after(500, resolve));
  }

  async #one(run: string, noted: StoredDue | undefined): Promise<void> {
    const { clock, journal } = this.#parts;
    const row = await journal.get(run);
    if (row !== undefined && row.state !== "done") return; // Parked; it is chosen again when it continues.
    const now = clock.now();
    const isOwn = (noted?.due.until ?? 0) > now + lease / 2;
    const taken = isOwn ? noted : await this.#due?.take(run, now);
    if (taken === undefined) return;
    let stored: StoredDue | undefined = taken;
    let stopRenewing = () => {};
    let renewing: Promise<void> = Promise.resolve();
    const renewLater = () => {
      stopRenewing = clock.after(lease / 3, () => {
        renewing = this.#renew(stored).then((next) => {
          stored = next;
          if (next !== undefined) renewLater();
        });
      });
    };
    renewLater();
    try {
      const isOver = await this.#shadow(row, taken.due.model);
      stopRenewing();
      await renewing;
      if (isOver && stored !== undefined) await this.#due?.done(stored);
    } catch (thrown) {
      stopRenewing();
      await renewing;
      const attempts = taken.due.attempts ?? 1;
      this.#warn("a shadow failed", { run, attempts, error: messageOf(thrown) });
      if (attempts >= mostAttempts && stored !== undefined) await this.#due?.done(stored);
    }
  }

  async #renew(stored: StoredDue | undefined): Promise<StoredDue | undefined> {
    if (stored === undefined) return undefined;
    return await this.#due?.keep(stored, this.#parts.clock.now() + lease).catch(() => stored);
  }

  /** False: interrupted, to be repeated. */
  async #shadow(row: RunRow | undefined, model: string): Promise<boolean> {
    const { journal, revisions, clock, runs } = this.#parts;
    const { config } = revisions.current;
    const settings = config.models[model]?.shadow;
    const isPaused = (this.#paused.get(model) ?? 0) > clock.now();
    if (row === undefined || row.outcome === "cancelled" || settings === undefined || isPaused) return true;
    const { run } = row;
    try {
      const replay = () =>
        evaluate({
          journal,
          runs: unseen(runs, model),
          cases: [{ id: run, run, place: "", expect: {}, recordings: [] }],
          scorers: settings.scorers,
          folder: config.folder,
          key: `shadow:${run}`,
          unanswered: "fail",
          signal: this.#stopping.signal,
          keepScores: false,
        });
      const { items, recorded } = await holdingHistory(journal, row, replay);
      const [shadow, live] = [items[0], recorded[0]];
      if (shadow === undefined || live === undefined) return false;
      if (shadow.code === "shutting_down") return true; // A shutdown says nothing about the model.
      if (shadow.code === "budget_exceeded") {
        this.#paused.set(model, clock.now() + pause);
        this.#warn("the budget of a shadow is used up", { model, run });
        return true;
      }
      const note: ShadowNote = { model, by: settings.model, at: clock.now(), live: cut(live), shadow: cut(shadow) };
      await changeNotes(journal, row, (notes) => ({ ...notes, shadow: note }));
      return true;
    } catch (thrown) {
      if (this.#stopping.signal.aborted || wrap("eval.run", thrown).code === "shutting_down") return false;
      throw thrown;
    }
  }

  get #isOn(): boolean {
    return Object.values(this.#parts.revisions.current.config.models).some(({ shadow }) => shadow !== undefined);
  }

  #lookLater(ms = period): void {
    this.#isLooking = this.#isOn && !this.#stopping.signal.aborted;
    if (!this.#isLooking) return;
    this.#stopTimer = this.#parts.clock.after(ms, () => {
      this.#looking = this.#look()
        .catch((thrown: unknown) => this.#warn("runs to be shadowed cannot be read", { error: messageOf(thrown) }))
        .finally(() => this.#lookLater());
    });
  }

  /** Finds runs left by a dead process, and those there was no room for. */
  async #look(): Promise<void> {
    const { clock } = this.#parts;
    let after: string | undefined;
    while (!this.#stopping.signal.aborted) {
      const page = (await this.#due?.page(after)) ?? [];
      for (const { run, at, until = 0 } of page) {
        if (this.#waiting.size >= mostWaiting) return;
        const now = clock.now();
        if (!this.#chosen.has(run) && until < now && at < now - period && !this.#waiting.has(run))
          this.#waiting.set(run, none);
      }
      if (this.#waiting.size > 0) this.#work();
      after = page.at(-1)?.run;
      if (after === undefined) return;
    }
  }

  #warn(message: string, facts: Readonly<Record<string, unknown>>): void {
    this.#parts.log.warn(message, facts);
  }
}

const none = Promise.resolve(undefined);

/** By hash of the id, so that all replicas and restarts agree. */
export function isSampled(run: string, share: number): boolean {
  const drawn = createHash("sha256").update(`shadow:${run}`).digest().readUInt32BE(0);
  return drawn / 2 ** 32 < share;
}

/** Starts shadow runs, which appear in no lists, budgets or figures. */
const unseen = (runs: Runs, model: string): EvalRuns => ({
  start: (request, options) => runs.start(request, { ...options, tenant: shadowTenant, shadow: model }),
  fork: (run, request, options) => runs.fork(run, request, { ...options, tenant: shadowTenant, shadow: model }),
  follow: (run, options) => runs.follow(run, options),
  get: (run) => runs.get(run),
  signal: (run, kind, body, id) => runs.signal(run, kind, body, id),
});

const cut = (measured: Measured): Measured => ({ ...measured, output: measured.output.slice(0, mostShown) });
