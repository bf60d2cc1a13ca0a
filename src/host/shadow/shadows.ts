import { createHash } from "node:crypto";
import { memberOf } from "../../agent/run/split.ts";
import { messageOf, wrap } from "../../core/errors/errors.ts";
import type { Claim, Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { shadowTenant } from "../../core/run/shadow.ts";
import { type EvalRuns, evaluate } from "../../evals/evaluate.ts";
import type { Measured } from "../../evals/scoring/run-set.ts";
import type { ShadowNote } from "../../evals/shadow-note.ts";
import { holding, readSteps } from "../../journal/history.ts";
import { changeNotes, notesOf } from "../../journal/notes.ts";
import type { Revisions } from "../revisions/revisions.ts";
import type { RunWatcher } from "../runs/run-watcher.ts";
import { StepMemory, Steps } from "./steps.ts";

export interface ShadowDeps {
  readonly journal: Journal;
  readonly runs: Runs;
  readonly revisions: Pick<Revisions, "current">;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs executing here, and how many may. */
  active(): number;
  readonly most: number;
}

/** Maximum waiting; further ones are left out. They are only ids. */
const mostWaiting = 1_000;
/** Shadows made together: they share transactions, and their code is warm. */
const together = 16;
/** Longest wait for others to be made with, ms; none while the process is idle. */
const patience = 15_000;
/** Delay of another attempt, ms. */
const retryAfter = 15_000;
const mostAttempts = 3;
/** Pause while a budget is exhausted, ms. */
const pause = 60_000;
/** How far back a new process looks for runs that a killed one left: time in ms, and number of runs. */
const lookBack = 3_600_000;
const mostLookedAt = 1_000;
/** Maximum characters of an answer shown next to the live run. */
const mostShown = 1_000;

/** Memory for steps of chosen runs, bytes. Those of further runs are read from the journal. */
const mostKept = 4 * 1024 * 1024;

interface Chosen {
  /** Entry of `models` with the shadow setting. */
  readonly model: string;
  readonly attempts: number;
  /** Steps seen here. Reading them back costs as much as the rest of a shadow. */
  readonly steps?: Steps;
}

/**
 * Repeats some live runs on another model, after their end and several at once. Tools return what they returned to the live run; nothing is
 * executed. Costs live runs a hash of their id. Chosen runs are kept in memory only: a process that
 * replaces a killed one works out the same choice from the journal.
 */
export class Shadows implements RunWatcher {
  readonly #deps: ShadowDeps;
  /** Runs executing here that are no shadows. */
  readonly #live = new Set<string>();
  /** Chosen runs executing here. */
  readonly #chosen = new Map<string, Chosen>();
  readonly #waiting = new Map<string, Chosen>();
  readonly #failed = new Map<string, Chosen>();
  /** Entries of `models` whose budget is exhausted, and until when. */
  readonly #paused = new Map<string, number>();
  readonly #memory = new StepMemory(mostKept);
  readonly #stopping = new AbortController();
  #working: Promise<void> | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopLooking = () => {};
  #stopWaiting: (() => void) | undefined;
  #stopRetrying: (() => void) | undefined;

  constructor(deps: ShadowDeps) {
    this.#deps = deps;
    const isOn = Object.values(deps.revisions.current.config.models).some(({ shadow }) => shadow !== undefined);
    // Soon after a restart, but not during it.
    if (isOn && this.#isKept) this.#stopLooking = deps.clock.after(1_000, () => this.#look());
  }

  began(claim: Claim, history: readonly RunEvent[]): ((step: RunEvent) => void) | undefined {
    const { tenant, request, ownership, unreadable } = claim;
    const { run } = ownership;
    if (request.shadow === undefined) this.#live.add(run);
    const model = unreadable === undefined && this.#isKept ? this.#modelOf({ tenant, request, run }) : undefined;
    if (model === undefined) return undefined;
    const steps = new Steps(this.#memory, ownership.epoch, history);
    // An execution that lost its lease may still be ending when the next begins.
    this.#chosen.get(run)?.steps?.drop();
    this.#chosen.set(run, { model, attempts: 1, steps });
    return (step) => steps.add(step);
  }

  left(run: string): void {
    const chosen = this.#chosen.get(run);
    this.#chosen.delete(run);
    this.#live.delete(run);
    if (chosen !== undefined) this.#wait(run, chosen);
    this.#plan();
  }

  /** Resolves when nothing is in progress. The next process continues with the rest. */
  async close(): Promise<void> {
    this.#stopping.abort();
    this.#stopLooking();
    this.#stopWaiting?.();
    this.#stopRetrying?.();
    await this.#looking;
    await this.#working;
  }

  /** Whether the journal can store results beside runs. */
  get #isKept(): boolean {
    return this.#deps.journal.keyValues !== undefined;
  }

  /** The entry of `models` whose shadow the run gets; the same on every replica. */
  #modelOf({ tenant, request, run }: Pick<RunRow, "tenant" | "request" | "run">): string | undefined {
    const { parent, fork, shadow, remember }: RunRequest = request;
    if ((parent ?? fork ?? shadow ?? remember) !== undefined) return undefined;
    const agent = this.#deps.revisions.current.agents.get(request.agent);
    if (agent === undefined) return undefined;
    const chosen = agent.overrides.models.get(request.model ?? "") ?? agent.model;
    const model = memberOf(chosen, { tenant, request, run });
    return model.shadow !== undefined && isSampled(run, model.shadow.share) ? model.name : undefined;
  }

  #wait(run: string, chosen: Chosen): void {
    if (this.#waiting.size < mostWaiting) this.#waiting.set(run, chosen);
    else chosen.steps?.drop();
  }

  /** Starts when several wait, the process has nothing else to do, or one has waited long enough. */
  #plan(): void {
    if (this.#waiting.size === 0 || this.#working !== undefined || this.#stopping.signal.aborted) return;
    if (this.#waiting.size >= together || this.#live.size === 0) return this.#work();
    this.#stopWaiting ??= this.#deps.clock.after(patience, () => this.#work());
  }

  #work(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#working ??= this.#makeSome().finally(() => {
      this.#working = undefined;
      this.#plan();
    });
  }

  async #makeSome(): Promise<void> {
    await this.#room();
    const some = [...this.#waiting].slice(0, together);
    const made = await Promise.all(
      some.map(async ([run, chosen]) => await this.#patiently(run, chosen, () => this.#make(run, chosen))),
    );
    // Together, so that they share a transaction.
    await Promise.all(
      some.map(async ([run, chosen], index) => {
        const { row, note } = made[index] ?? {};
        if (row !== undefined) await this.#patiently(run, chosen, () => this.#note(row, note));
        chosen.steps?.drop();
        // A parked run may have gone on and ended meanwhile.
        if (this.#waiting.get(run) === chosen) this.#waiting.delete(run);
      }),
    );
  }

  async #note(row: RunRow, note: ShadowNote | undefined): Promise<void> {
    await changeNotes(this.#deps.journal, row, (notes) => ({ ...notes, shadow: note }));
  }

  /** Live runs have priority: shadows wait while those fill half of the process. */
  async #room(): Promise<void> {
    const { active, most, clock } = this.#deps;
    const { signal } = this.#stopping;
    while (active() > most / 2 && !signal.aborted) await new Promise<void>((resolve) => clock.after(500, resolve));
  }

  /** Undefined after a failure; it is tried again later. */
  async #patiently<T>(run: string, { model, attempts }: Chosen, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (thrown) {
      // A shutdown: the next process makes it.
      if (this.#stopping.signal.aborted || wrap("eval.run", thrown).code === "shutting_down") return undefined;
      this.#warn("a shadow failed", { run, attempts, error: messageOf(thrown) });
      if (attempts >= mostAttempts) return undefined;
      this.#failed.set(run, { model, attempts: attempts + 1 });
      this.#stopRetrying ??= this.#deps.clock.after(retryAfter, () => this.#retry());
      return undefined;
    }
  }

  #retry(): void {
    this.#stopRetrying = undefined;
    for (const [run, chosen] of this.#failed) this.#wait(run, chosen);
    this.#failed.clear();
    this.#plan();
  }

  async #make(run: string, { model, steps }: Chosen): Promise<{ row: RunRow; note: ShadowNote } | undefined> {
    const { journal, revisions, clock, runs } = this.#deps;
    const { config } = revisions.current;
    const settings = config.models[model]?.shadow;
    if (settings === undefined || (this.#paused.get(model) ?? 0) > clock.now()) return undefined;
    const row = await journal.get(run);
    // A parked run is chosen again when it continues.
    if (row?.state !== "done" || row.outcome === "cancelled") return undefined;
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
        notes: false,
      });
    const seen = steps?.of(row);
    const { items, recorded } = await holding(journal, { row, steps: seen ?? (await readSteps(journal, row)) }, replay);
    const [shadow, live] = [items[0], recorded[0]];
    // A shutdown says nothing about the model.
    if (shadow === undefined || live === undefined || shadow.code === "shutting_down") return undefined;
    if (shadow.code === "budget_exceeded") {
      this.#paused.set(model, clock.now() + pause);
      this.#warn("the budget of a shadow is used up", { model, run });
      return undefined;
    }
    return { row, note: { model, by: settings.model, at: clock.now(), live: cut(live), shadow: cut(shadow) } };
  }

  #look(): void {
    this.#looking = this.#lookBack().catch((thrown: unknown) =>
      this.#warn("runs to be shadowed cannot be read", { error: messageOf(thrown) }),
    );
  }

  /** Finds runs of a process that was stopped or killed before it made their shadows. */
  async #lookBack(): Promise<void> {
    const { journal, clock } = this.#deps;
    const query = { state: "done", since: clock.now() - lookBack, limit: 200 } as const;
    let looked = 0;
    let cursor: string | undefined;
    do {
      const page = await journal.list(cursor === undefined ? query : { ...query, cursor });
      for (const row of page.runs) {
        if (this.#stopping.signal.aborted) return;
        const model = this.#modelOf(row);
        if (model === undefined || this.#waiting.has(row.run)) continue;
        if ((await notesOf(journal, row)).shadow !== undefined) continue;
        this.#wait(row.run, { model, attempts: 1 });
      }
      looked += page.runs.length;
      cursor = page.cursor;
    } while (cursor !== undefined && looked < mostLookedAt);
    this.#plan();
  }

  #warn(message: string, facts: Readonly<Record<string, unknown>>): void {
    this.#deps.log.warn(message, facts);
  }
}

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
