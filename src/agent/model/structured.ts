import { VenturiError } from "../../core/errors/errors.ts";
import type { Schema } from "../../core/values/schema.ts";
import { excessOfJson } from "../../core/values/value-limits.ts";
import { readSchema } from "../schema/json-schema.ts";
import { parse } from "../schema/standard.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Parses the answer against its schema, and against the agent's own validator if it has one. The object stays as the model wrote it:
 * defaults and transforms are applied where a program reads the result, because the journal holds JSON. Strips a code fence; repairs
 * nothing else.
 */
export function structured(
  text: string,
  schema: JsonSchema,
  also?: Schema,
): { ok: true; object: unknown } | { ok: false; problem: string } {
  const bare = unfenced(text);
  const excess = excessOfJson(bare);
  if (excess !== undefined) return { ok: false, problem: `the answer ${excess}` };
  let object: unknown;
  try {
    object = JSON.parse(bare);
  } catch {
    return { ok: false, problem: "the answer is not JSON" };
  }
  const problems = readSchema(schema).problems(object);
  if (problems.length === 0) {
    const parsed = also === undefined ? { ok: true as const } : parse(also, object, "the answer");
    return parsed.ok ? { ok: true, object } : { ok: false, problem: parsed.problems.slice(0, 5).join("; ") };
  }
  const listed = problems.slice(0, 5).map(({ path, message }) => `${path || "the answer"} ${message}`);
  return { ok: false, problem: listed.join("; ") };
}

/** Strips a code fence. Not a regular expression: it would backtrack over the whole answer. */
function unfenced(text: string): string {
  const whole = text.trim();
  if (!whole.startsWith("```") || !whole.endsWith("```") || whole.length < 6) return whole;
  const start = whole.indexOf("\n");
  if (start < 0 || !/^```(?:json)?\s*$/.test(whole.slice(0, Math.min(start, 64)))) return whole;
  return whole.slice(start + 1, -3);
}

export const repairRequest = (problem: string): string =>
  `Your answer does not fit the required JSON Schema: ${problem}. Answer again with the JSON alone.`;

export const unfit = (problem: string): VenturiError =>
  new VenturiError("agent.output", "llm_error", `the answer does not fit the agent's output schema: ${problem}`);
