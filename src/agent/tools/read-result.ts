import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Tool } from "../../core/ports/tool.ts";
import type { ContentStore } from "../run/content.ts";
import type { RunState } from "../state/run-state.ts";

const longestPiece = 32_000;

/** Lets the model read the rest of a truncated output. Offered once there is one. */
export function readResultTool(state: RunState, content: Pick<ContentStore, "output">): Tool {
  return {
    name: "read_result",
    description: "Reads a piece of an earlier tool result that was cut.",
    parameters: z.strictObject({
      call: z.string().describe("the id of the call whose result was cut"),
      offset: z.number().int().min(0).describe("where to begin, in characters"),
      length: z.number().int().min(1).max(longestPiece).default(8_000).describe("how much to read, in characters"),
    }) as unknown as Tool["parameters"], // arguments are validated before call
    effect: "pure",
    maxOutput: longestPiece + 200,
    async call(input) {
      const { call, offset, length } = input as { call: string; offset: number; length: number };
      const cut = state.cutResults.get(call);
      if (cut === undefined) {
        const known = [...state.cutResults.keys()].join(", ");
        throw new VenturiError("tool.call", "not_found", `no result of "${call}" was cut; cut results: ${known}`);
      }
      const whole = typeof cut === "string" ? cut : await content.output(cut.hash);
      return `${whole.slice(offset, offset + length)}\n[${Math.min(offset + length, whole.length)} of ${whole.length} characters]`;
    },
  };
}
