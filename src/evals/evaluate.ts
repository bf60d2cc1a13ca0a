import { setTimeout as sleep } from "node:timers/promises";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Journal } from "../core/journal/journal.ts";
import type { Runs } from "../core/ports/runs.ts";
import { inputText } from "../core/run/digest.ts";
import { isStep, type RunEvent } from "../core/run/events.ts";
import { isAsked } from "../core/run/questions.ts";
import type { Unanswered } from "../core/run/unanswered.ts";
import { Line } from "../journal/archive.ts";
import { heldRun, readSteps } from "../journal/history.ts";
import { importRun } from "../journal/import.ts";
import { changeNotes } from "../journal/notes.ts";
import { type Case, runNamed } from "./dataset/cases.ts";
import type { Scorer } from "./dataset/schema.ts";
import { type JudgeDeps, judgeWith } from "./scoring/judge.ts";
import { type Outcome, outcomeOf } from "./scoring/outcome.ts";
import type { Measured, RunSet } from "./scoring/run-set.ts";
import { openScorers, type Score, type Subject } from "./scoring/scorers.ts";
import { meanOf } from "./stats/bootstrap.ts";

const op = "eval.run";

/** The operations an eval uses. */
export type EvalRuns = Pick<Runs, "start" | "fork" | "follow" | "get" | "signal">;

export interface EvalOptions {
  /** A separate journal, so that no service executes the eval's runs. */
  readonly journal: Journal;
  readonly runs: EvalRuns;
  readonly cases: readonly Case[];
  readonly scorers: readonly Scorer[];
  /** Base folder of the scorers' modules. */
  readonly folder: string;
  /** Prefix of the idempotency keys: with the same prefix an interrupted eval continues. */
  readonly key: string;
  readonly unanswered: Unanswered;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly repeat?: number;
  readonly concurrency?: number;
  /** USD. */
  readonly budget?: number | undefined;
  /** The results to compare with, for a pairwise judge. */
  readonly against?: ReadonlyMap<string, { readonly output: string }> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether ratings are read and scores stored next to each run; default true. */
  readonly notes?: boolean;
  progress?(done: number, all: number, last: Measured): void;
}

export interface Evaluated {
  readonly items: readonly Measured[];
  /** The recorded runs, scored with the same scorers. */
  readonly recorded: readonly Measured[];
  readonly skipped: readonly string[];
}

/** Runs every case `repeat` times, each under a key, and scores them. Tools return recorded results; nothing is executed. */
export async function evaluate(options: EvalOptions): Promise<Evaluated> {
  const { cases, repeat = 1, concurrency = 4, budget, signal } = options;
  let spent = 0;
  const charge = ({ run, cost, tokens }: Pick<Outcome, "run" | "cost" | "tokens">) => {
    spent += cost ?? 0;
    if (budget === undefined || cost !== undefined || tokens === 0) return;
    const message = `what ${run} cost is not known, so no budget in USD can hold; add the price of its model to prices`;
    throw new VenturiError(op, "invalid_input", message);
  };
  await openScorers(options.scorers, { folder: options.folder, judge: async () => undefined });
  const originals = new Map<string, Original>();
  for (const each of cases) {
    const original = await originalOf(options, each);
    if (original !== undefined) originals.set(each.id, original);
  }
  const score = scorerOf(options, originals, charge);
  const recorded: Measured[] = [];
  const todo = cases.flatMap((each) => Array.from({ length: repeat }, (_, index) => ({ each, repeat: index + 1 })));
  const items: Measured[] = [];
  const skipped = new Set<string>();
  const all = todo.length;
  await inParallel(concurrency, cases, async (each) => {
    const original = originals.get(each.id);
    if (original !== undefined && !signal?.aborted)
      recorded.push(await score(each, { repeat: 0, outcome: original.outcome }));
  });
  await inParallel(concurrency, todo, async ({ each, repeat: place }) => {
    if (signal?.aborted) return;
    if (budget !== undefined && spent >= budget) return void skipped.add(each.id);
    const outcome = await outcomeOfCase(options, each, place);
    if (outcome === undefined) return; // Interrupted; it continues the next time.
    charge(outcome);
    const measured = await score(each, { repeat: place, outcome });
    items.push(measured);
    options.progress?.(items.length, all, measured);
  });
  if (signal?.aborted)
    throw new VenturiError(op, "stream_interrupted", "interrupted; the same command goes on from here");
  const order = new Map(cases.map(({ id }, index) => [id, index]));
  const inOrder = (left: Measured, right: Measured) =>
    (order.get(left.id) ?? 0) - (order.get(right.id) ?? 0) || left.repeat - right.repeat;
  return { items: items.sort(inOrder), recorded: recorded.sort(inOrder), skipped: [...skipped] };
}

interface Original {
  readonly outcome: Outcome;
  readonly asked: string;
  readonly rating: number | undefined;
}

/** Imports the recording and the conversation before it. */
async function originalOf({ journal, notes }: EvalOptions, { run, recordings }: Case): Promise<Original | undefined> {
  if (run === undefined) return undefined;
  for (const text of recordings) if ((await journal.get(runNamed(text))) === undefined) await importRun(journal, text);
  const row = heldRun(journal, run)?.row ?? (await journal.get(run));
  if (row === undefined) throw new VenturiError(op, "not_found", `the run ${run} is not in its own recording`);
  const outcome = outcomeOf(await readSteps(journal, row));
  if (outcome === undefined) throw new VenturiError(op, "invalid_input", `the recorded run ${run} has not ended`);
  const feedback = notes === false ? [] : feedbackIn(recordings.at(-1) ?? "");
  const scores = feedback.flatMap((given) => given.score ?? []);
  return { outcome, asked: inputText(row.request.input), rating: scores.length === 0 ? undefined : meanOf(scores) };
}

/** From the recording: an earlier eval may have imported the run before it was rated. */
function feedbackIn(recording: string): readonly { readonly score?: number | undefined }[] {
  const line = recording.split("\n").find((each) => each.startsWith('{"notes":'));
  const found = line === undefined ? undefined : Line.parse(JSON.parse(line));
  return found !== undefined && "notes" in found ? found.notes.feedback : [];
}

/** Starts the case, or finds it by its key, and waits for its end. Nobody can be asked, so questions are declined. */
async function outcomeOfCase(options: EvalOptions, each: Case, repeat: number): Promise<Outcome | undefined> {
  const { runs, agent, model, unanswered, signal } = options;
  const key = `${options.key}:${each.id}:${repeat}`;
  const chosen = { ...(model === undefined ? {} : { model }) };
  const begin = async (): Promise<{ run: string }> =>
    each.run === undefined
      ? await runs.start({ agent: agent ?? each.agent ?? "", input: each.input ?? {}, ...chosen }, { key })
      : await runs.fork(
          each.run,
          { after: 1, unanswered, ...chosen, ...(agent === undefined ? {} : { agent }) },
          { key },
        );
  const { run } = await begin();
  const events: RunEvent[] = [];
  for await (const batch of runs.follow(run, { channel: "eval", ...(signal === undefined ? {} : { signal }) })) {
    for (const event of batch) {
      if (isStep(event)) events.push(event);
      if (isAsked(event)) await decline(runs, run, event);
    }
  }
  return outcomeOf(events);
}

async function decline(runs: EvalRuns, run: string, event: RunEvent & { readonly call: string }): Promise<void> {
  const body = { call: event.call, approved: false, reason: "nobody is asked during an eval" };
  // Already answered before an interruption.
  await runs.signal(run, "approve", body, `approve:${event.call}`).catch(async (thrown: unknown) => {
    if (wrap(op, thrown).code !== "conflict") throw thrown;
    await sleep(0);
  });
}

function scorerOf(options: EvalOptions, originals: ReadonlyMap<string, Original>, charge: JudgeDeps["spent"]) {
  const { journal, runs, scorers, folder } = options;
  return async (each: Case, { repeat, outcome }: { repeat: number; outcome: Outcome }): Promise<Measured> => {
    const original = originals.get(each.id);
    const judge = judgeWith({ runs, key: `${options.key}:${each.id}:${repeat}`, spent: charge });
    const subject: Subject = {
      id: each.id,
      asked: each.input === undefined ? (original?.asked ?? "") : inputText(each.input),
      expect: each.expect,
      outcome,
      recorded: original?.outcome,
      other: options.against?.get(each.id),
    };
    const scores: Record<string, Score> = {};
    for (const { name, score } of await openScorers(scorers, { folder, judge })) {
      const given = await score(subject);
      if (given !== undefined) scores[name] = given;
    }
    if (options.notes !== false) await keepScores(journal, outcome.run, scores);
    const { ok, code, output, ms, tokens, cost, unanswered } = outcome;
    return {
      id: each.id,
      repeat,
      run: outcome.run,
      ok,
      ...(code === undefined ? {} : { code }),
      asked: subject.asked.slice(0, 300),
      output,
      ms,
      tokens,
      ...(cost === undefined ? {} : { cost }),
      unanswered,
      scores: scores as RunSet["items"][number]["scores"],
      ...(original?.rating === undefined ? {} : { rating: original.rating }),
    };
  };
}

async function keepScores(journal: Journal, run: string, scores: Readonly<Record<string, Score>>): Promise<void> {
  const plain = Object.fromEntries(Object.entries(scores).map(([name, { score }]) => [name, score]));
  const row = await journal.get(run);
  if (row !== undefined) await changeNotes(journal, row, (notes) => ({ ...notes, scores: plain }));
}

/** Runs at most `most` at once; the first failure stops those that have not begun. */
async function inParallel<T>(most: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failed = false;
  const lane = async () => {
    while (!failed) {
      const item = items[next++];
      if (item === undefined) return;
      await work(item).catch((thrown: unknown) => {
        failed = true;
        throw thrown;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane));
}
