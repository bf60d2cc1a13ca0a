import { z } from "zod";
import { CallOptions } from "./call-settings.ts";
import { RunInput } from "./event-fields.ts";
import { Unanswered } from "./unanswered.ts";

/**
 * What a fork does with tool calls. `recorded`: a call the original made gets its result without executing; any other asks a person. `run`:
 * `pure` tools run, others ask. `ask`: all ask.
 */
const ForkTools = z.enum(["recorded", "run", "ask"]);

/** A new run that begins with another one's events. */
export const ForkRequest = z.strictObject({
  after: z
    .number()
    .int()
    .positive()
    .describe(
      "seq of the last event taken over: run.started, memory.recalled, generation.finished, tool.finished or round.finished",
    ),
  input: z.union([z.string(), RunInput]).exactOptional().describe("another input; only after run.started"),
  agent: z.string().min(1).exactOptional().describe("another agent; only after run.started"),
  edit: z
    .array(z.strictObject({ call: z.string(), output: z.string(), ok: z.boolean().default(true) }))
    .max(100)
    .exactOptional()
    .describe("other results of tool calls among the events taken over"),
  model: z.string().exactOptional().describe("a model that the agent lets a call choose"),
  instructions: z.string().exactOptional().describe("in place of the agent's own; needs the scope inspect"),
  options: CallOptions.exactOptional(),
  tools: ForkTools.default("recorded"),
  unanswered: Unanswered.exactOptional().describe(
    "a call that the original never made: ask (default), fail, run, or who answers it",
  ),
  session: z.string().min(1).max(256).exactOptional().describe("a new conversation; none by default"),
});
export type ForkRequest = z.output<typeof ForkRequest>;
