import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readSchema } from "../../agent/schema/json-schema.ts";
import { patternOf } from "../../agent/schema/pattern.ts";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Expected, Scorer } from "../dataset/schema.ts";
import { callKey, type Outcome } from "./outcome.ts";

const op = "eval.score";

export interface Score {
  /** From 0 to 1. */
  readonly score: number;
  readonly why?: string;
  /** Runs of the judge. */
  readonly runs?: readonly string[];
}

/** What is scored, and what it is compared with. */
export interface Subject {
  readonly id: string;
  readonly asked: string;
  readonly expect: Expected;
  readonly outcome: Outcome;
  /** The recorded run. */
  readonly recorded: Outcome | undefined;
  /** The same item in the results to compare with. */
  readonly other: { readonly output: string } | undefined;
}

export interface NamedScorer {
  readonly name: string;
  /** Undefined: nothing to compare with, so the item does not count for this scorer. */
  score(subject: Subject): Promise<Score | undefined> | Score | undefined;
}

export type Judge = (scorer: Extract<Scorer, { type: "judge" }>, subject: Subject) => Promise<Score | undefined>;

/** Loads modules and compiles patterns first: a set with a broken scorer runs nothing. */
export function openScorers(
  scorers: readonly Scorer[],
  { folder, judge }: { readonly folder: string; readonly judge: Judge },
): Promise<NamedScorer[]> {
  return Promise.all(
    scorers.map(async (scorer): Promise<NamedScorer> => {
      const name = scorer.name ?? scorer.type;
      const score = await scoreOf(scorer, folder, judge);
      // A failed run has no answer, whatever it said before.
      const counts = scorer.type === "latency" || scorer.type === "tokens" || scorer.type === "cost";
      return {
        name,
        score: (subject) => {
          if (subject.outcome.ok || counts) return score(subject);
          return applies(scorer, subject)
            ? { score: 0, why: `the run failed: ${subject.outcome.code ?? "unknown"}` }
            : undefined;
        },
      };
    }),
  );
}

/** Whether there is something to compare with. What the scorer does not count when it succeeds, it does not count when it fails. */
function applies(scorer: Scorer, { expect, recorded, other }: Subject): boolean {
  switch (scorer.type) {
    case "exact":
      return (expect.output ?? recorded) !== undefined;
    case "json":
      return expect.json !== undefined;
    case "schema":
      return (scorer.schema ?? expect.schema) !== undefined;
    case "regex":
      return (scorer.pattern ?? expect.regex) !== undefined;
    case "calls":
      return (expect.calls ?? recorded) !== undefined;
    case "judge":
      return !scorer.pairwise || (other ?? recorded) !== undefined;
    default:
      return true;
  }
}

async function scoreOf(scorer: Scorer, folder: string, judge: Judge): Promise<NamedScorer["score"]> {
  switch (scorer.type) {
    case "exact":
      return ({ expect, outcome, recorded }) => {
        const wanted = expect.output ?? recorded?.output;
        return wanted === undefined ? undefined : passOrFail(outcome.output.trim() === wanted.trim(), "another answer");
      };
    case "json":
      return ({ expect, outcome }) => {
        if (expect.json === undefined) return undefined;
        const missing = missingIn(jsonOf(outcome), expect.json, "$");
        return passOrFail(missing === undefined, missing ?? "");
      };
    case "schema": {
      const own = scorer.schema === undefined ? undefined : readSchema(scorer.schema);
      return ({ expect, outcome }) => {
        const schema = own ?? (expect.schema === undefined ? undefined : readSchema(expect.schema));
        if (schema === undefined) return undefined;
        const [first] = schema.problems(jsonOf(outcome));
        return passOrFail(first === undefined, first === undefined ? "" : `${first.path || "$"} ${first.message}`);
      };
    }
    case "regex": {
      const own = scorer.pattern === undefined ? undefined : patternOf(scorer.pattern);
      return ({ expect, outcome }) => {
        const pattern = own ?? (expect.regex === undefined ? undefined : patternOf(expect.regex));
        return pattern === undefined ? undefined : passOrFail(pattern.test(outcome.output), "does not match");
      };
    }
    case "calls":
      return ({ expect, outcome, recorded }) => {
        const wanted = expect.calls ?? recorded?.calls;
        return wanted === undefined ? undefined : sameCalls(outcome.calls, wanted);
      };
    case "tools":
      return ({ outcome }) => {
        const other = outcome.calls.find(({ name }) => !scorer.only.includes(name));
        return passOrFail(other === undefined, `called ${other?.name ?? ""}`);
      };
    case "latency":
      return ({ outcome: { ms } }) => passOrFail(ms <= scorer.max, `${ms} ms`);
    case "tokens":
      return ({ outcome: { tokens } }) => passOrFail(tokens <= scorer.max, `${tokens} tokens`);
    case "cost":
      return ({ outcome: { cost } }) => (cost === undefined ? undefined : passOrFail(cost <= scorer.max, `$${cost}`));
    case "module":
      return await moduleScorer(resolve(folder, scorer.path));
    case "judge":
      return (subject) => judge(scorer, subject);
  }
}

const passOrFail = (good: boolean, why: string): Score => (good ? { score: 1 } : { score: 0, why });

/** Share of the calls that both made, ignoring order. */
function sameCalls(made: Outcome["calls"], wanted: Outcome["calls"]): Score {
  const left = wanted.map(callKey);
  const extra = made.map(callKey).filter((key) => {
    const at = left.indexOf(key);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const most = Math.max(made.length, wanted.length);
  if (left.length === 0 && extra.length === 0) return { score: 1 };
  const why = [...left.map((key) => `missing: ${key}`), ...extra.map((key) => `extra: ${key}`)].join("; ");
  return { score: (made.length - extra.length) / most, why: why.slice(0, 500) };
}

/** The answer as JSON: its object, or its parsed text, with or without a Markdown fence. */
function jsonOf({ object, output }: Outcome): unknown {
  if (object !== undefined) return object;
  const text = output.trim();
  const body = text.startsWith("```") ? text.slice(text.indexOf("\n") + 1, text.lastIndexOf("```")) : text;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The first path where the value differs from what is wanted. Lists must have the same length. */
function missingIn(value: unknown, wanted: unknown, path: string): string | undefined {
  if (typeof wanted !== "object" || wanted === null)
    return value === wanted ? undefined : `${path} is ${JSON.stringify(value)}`;
  if (typeof value !== "object" || value === null || Array.isArray(value) !== Array.isArray(wanted))
    return `${path} is ${JSON.stringify(value)?.slice(0, 100)}`;
  if (Array.isArray(wanted) && Array.isArray(value) && value.length !== wanted.length)
    return `${path} has ${value.length} entries`;
  const fields = value as Readonly<Record<string, unknown>>;
  for (const [key, inner] of Object.entries(wanted)) {
    const missing = missingIn(Object.hasOwn(fields, key) ? fields[key] : undefined, inner, `${path}.${key}`);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** Loads the default export: a function of the subject that returns a number from 0 to 1, or `{ score, why }`. */
async function moduleScorer(path: string): Promise<NamedScorer["score"]> {
  const loaded = (await import(pathToFileURL(path).href).catch((cause: unknown) => {
    throw new VenturiError(op, "plugin_failed", `the scorer ${path} cannot be loaded: ${messageOf(cause)}`, { cause });
  })) as { default?: unknown };
  const { default: score } = loaded;
  if (typeof score !== "function")
    throw new VenturiError(op, "plugin_failed", `the scorer ${path} has no function as its default export`);
  return async (subject) => {
    const given: unknown = await score(subject);
    if (given === undefined || given === null) return undefined;
    const answer = (typeof given === "object" ? given : { score: given }) as Score;
    if (typeof answer.score === "number" && answer.score >= 0 && answer.score <= 1) return answer;
    const message = `the scorer ${path} gave ${JSON.stringify(given)?.slice(0, 100)} for ${subject.id}, which is no score from 0 to 1`;
    throw new VenturiError(op, "plugin_failed", message);
  };
}
