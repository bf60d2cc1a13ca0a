import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Message, ToolResultPart } from "../../core/model/messages.ts";
import type { Tool } from "../../core/ports/tool.ts";
import type { RunContext } from "../run/run-context.ts";

const longestPiece = 32_000;
/** Maximum number of names in an error message. */
const mostNamed = 50;

type Run = Pick<RunContext, "state" | "content"> & { readonly deps: Pick<RunContext["deps"], "session"> };

/** One object: what is made of a schema is kept with it. */
const parameters = z.strictObject({
  call: z.string().describe("the id of the call whose result it is"),
  offset: z.number().int().min(0).describe("where to begin, in characters"),
  length: z.number().int().min(1).max(longestPiece).default(8_000).describe("how much to read, in characters"),
}) as unknown as Tool["parameters"]; // Arguments are validated before the call.

/** Lets the model read the rest of a truncated output, or one replaced by a reference. Offered once there may be one. */
export function readResultTool(run: Run): Tool {
  return {
    name: "read_result",
    description: "Reads a piece of an earlier tool result that was cut or is no longer shown.",
    parameters,
    effect: "pure",
    local: true,
    maxOutput: longestPiece + 200,
    async call(input) {
      const { call, offset, length } = input as { call: string; offset: number; length: number };
      const whole = await resultOf(run, call);
      return `${whole.slice(offset, offset + length)}\n[${Math.min(offset + length, whole.length)} of ${whole.length} characters]`;
    },
  };
}

async function resultOf({ state, content, deps: { session } }: Run, call: string): Promise<string> {
  const cut = state.cutResults.get(call);
  if (cut !== undefined) return typeof cut === "string" ? cut : await content.output(cut.hash);
  const results = resultsIn([...session, ...state.messages]);
  const part = results.get(call);
  if (part !== undefined) return part.hash === undefined ? part.output : await content.output(part.hash);
  const known = [...new Set([...state.cutResults.keys(), ...results.keys()])].slice(-mostNamed).join(", ");
  throw new VenturiError("tool.call", "not_found", `there is no result of "${call}"; there are: ${known || "none"}`);
}

const resultsIn = (messages: readonly Message[]): Map<string, ToolResultPart> =>
  new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool_result" ? [[part.call, part] as const] : [])),
    ),
  );
