import { VenturiError } from "../../core/errors/errors.ts";
import type { Runs } from "../../core/ports/runs.ts";
import { costOfAll } from "../../core/run/costs.ts";
import { isTerminal } from "../../core/run/events.ts";
import type { Outcome } from "./outcome.ts";
import type { Judge, Score, Subject } from "./scorers.ts";

export interface JudgeDeps {
  readonly runs: Pick<Runs, "start" | "follow">;
  /** Idempotency key of the judged run. */
  readonly key: string;
  /** Called with what judging took. */
  readonly spent: (took: Pick<Outcome, "run" | "cost" | "tokens">) => void;
}

/**
 * An agent as a judge, in runs of its own. With only a rubric it gives a score; pairwise it compares the answer with the other in both
 * orders, and a verdict that depends on the order counts as a tie.
 */
export const judgeWith =
  (deps: JudgeDeps): Judge =>
  async ({ agent, rubric, pairwise, name = "judge" }, subject) => {
    const ask = (text: string, place: string) => answerOf(deps, { agent, text, key: `${deps.key}:${name}:${place}` });
    if (!pairwise) {
      const { value, run } = await ask(single(rubric, subject), "score");
      const score = scoreIn(value.score);
      if (!(score >= 0 && score <= 1)) throw strange(agent, run, '{"score": 0 to 1, "why": …}');
      return { score, runs: [run], ...whyOf(value) };
    }
    const other = subject.other?.output ?? subject.recorded?.output;
    if (other === undefined) return undefined;
    const [first, second] = await Promise.all([
      ask(pair(rubric, subject, [subject.outcome.output, other]), "ab"),
      ask(pair(rubric, subject, [other, subject.outcome.output]), "ba"),
    ]);
    const wins = [first, second].map(({ value, run }, order) => {
      const better = String(value.better).toUpperCase();
      if (!["A", "B", "TIE"].includes(better)) throw strange(agent, run, '{"better": "A", "B" or "tie"}');
      return better === "TIE" ? 0.5 : Number((better === "A") === (order === 0));
    });
    const score = wins[0] === wins[1] ? (wins[0] ?? 0.5) : 0.5;
    return { score, runs: [first.run, second.run], ...whyOf(first.value) } satisfies Score;
  };

/** NaN for what is no number: `Number` takes null, "" and [] for 0. */
const scoreIn = (given: unknown): number =>
  typeof given === "number" || (typeof given === "string" && given.trim() !== "") ? Number(given) : Number.NaN;

const whyOf = ({ why }: Record<string, unknown>): { why?: string } =>
  typeof why === "string" ? { why: why.slice(0, 500) } : {};

const strange = (agent: string, run: string, wanted: string): VenturiError =>
  new VenturiError("eval.judge", "invalid_input", `the judge ${agent} did not answer with ${wanted}; see ${run}`);

const single = (rubric: string, { asked, outcome }: Subject): string =>
  `Judge an answer.\n\nRubric: ${rubric}\n\nQuestion:\n${asked}\n\nAnswer:\n${outcome.output}\n\nReply with JSON alone: {"score": a number from 0 to 1, "why": one sentence}`;

const pair = (rubric: string, { asked }: Subject, [a, b]: readonly [string, string]): string =>
  `Compare two answers.\n\nRubric: ${rubric}\n\nQuestion:\n${asked}\n\nAnswer A:\n${a}\n\nAnswer B:\n${b}\n\nReply with JSON alone: {"better": "A", "B" or "tie", "why": one sentence}`;

async function answerOf(
  { runs, spent }: JudgeDeps,
  { agent, text, key }: { readonly agent: string; readonly text: string; readonly key: string },
): Promise<{ value: Record<string, unknown>; run: string }> {
  const { run } = await runs.start({ agent, input: { text } }, { key });
  for await (const batch of runs.follow(run, { channel: "eval" })) {
    const last = batch.at(-1);
    if (last === undefined || !isTerminal(last)) continue;
    const { inputTokens = 0, outputTokens = 0 } = last.usage;
    spent({ run, cost: costOfAll(last), tokens: inputTokens + outputTokens });
    if (last.type === "run.failed")
      throw new VenturiError("eval.judge", last.error.code, `the judge ${agent} failed: ${last.error.err}`);
    return { value: objectIn(last.object, last.output), run };
  }
  throw new VenturiError("eval.judge", "internal", `the run ${run} of the judge ended without its end`);
}

/** Finds the JSON in an answer: models like to add text before it. */
function objectIn(object: unknown, text: string): Record<string, unknown> {
  try {
    const found: unknown = object ?? JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
