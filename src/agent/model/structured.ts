import { VenturiError } from "../../core/errors.ts";
import { excessOfJson } from "../../core/value-limits.ts";
import { validatorOf } from "../tools/tool-table.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The answer as the object its schema asks for. Models like to fence JSON; that is taken off, nothing else is mended. */
export function structured(
  text: string,
  schema: Schema,
): { ok: true; object: unknown } | { ok: false; problem: string } {
  const bare = text.trim().replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1");
  const excess = excessOfJson(bare);
  if (excess !== undefined) return { ok: false, problem: `the answer ${excess}` };
  let object: unknown;
  try {
    object = JSON.parse(bare);
  } catch {
    return { ok: false, problem: "the answer is not JSON" };
  }
  const validate = validatorOf(schema);
  if (validate(object)) return { ok: true, object };
  const problems = (validate.errors ?? []).slice(0, 5);
  return {
    ok: false,
    problem: problems.map((each) => `${each.instancePath || "the answer"} ${each.message}`).join("; "),
  };
}

export const repairRequest = (problem: string): string =>
  `Your answer does not fit the required JSON Schema: ${problem}. Answer again with the JSON alone.`;

export const unfit = (problem: string): VenturiError =>
  new VenturiError("agent.output", "llm_error", `the answer does not fit the agent's output schema: ${problem}`);
