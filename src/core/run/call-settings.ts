import { z } from "zod";
import { VenturiError } from "../errors/errors.ts";
import { generationOptions } from "../model/generation-options.ts";
import type { GenerationOptions } from "../model/provider.ts";
import type { RunRequest } from "./run-request.ts";

type Named = typeof generationOptions;
const named = Object.entries(generationOptions).map(([key, schema]) => [key, schema.nullable()]);

/** Generation options of one call. `null` unsets a value from the config. */
export const CallOptions = z.looseObject(Object.fromEntries(named) as { [K in keyof Named]: z.ZodNullable<Named[K]> });

const emptyObject = { type: "object", properties: {} };

/** A tool that the client executes. */
const ClientTool = z.strictObject({
  name: z.string().min(1).max(128),
  description: z.string().default(""),
  parameters: z.record(z.string(), z.unknown()).default(emptyObject).describe("JSON Schema of the arguments"),
});

const ToolChoice = z.union([z.enum(["auto", "none", "required"]), z.strictObject({ name: z.string().min(1) })]);

/** Optional settings of a call, beyond agent and input. Channels spread them into their own request schema. */
export const callSettings = {
  model: z.string().min(1).optional().describe("instead of the agent's model, where the agent allows it"),
  options: CallOptions.optional().describe("generation options, merged over the agent's; null takes one back"),
  tools: z
    .array(ClientTool)
    .max(128)
    .optional()
    .describe("tools of the client: offered, never run here, returned as calls"),
  toolChoice: ToolChoice.optional().describe("whether the first round has to call a tool, and which"),
  debug: z.boolean().optional().describe("log each step of its tool calls; needs a key that may inspect"),
};
const Settings = z.strictObject(callSettings);
export type CallSettings = z.input<typeof Settings>;

/** The settings in the form a run's request stores them; absent fields stay absent. Throws `invalid_input`. */
export function callRequest(
  settings: CallSettings,
): Pick<RunRequest, "model" | "options" | "clientTools" | "toolChoice" | "debug"> {
  const parsed = Settings.safeParse(settings);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue?.path.join(".") || "the call"}: ${issue?.message ?? "not valid"}`;
    throw new VenturiError("run.start", "invalid_input", message);
  }
  const { model, options, tools, toolChoice, debug } = parsed.data;
  return {
    ...(model === undefined ? {} : { model }),
    ...(options === undefined ? {} : { options: options as GenerationOptions }), // Merging removes the nulls.
    ...(tools === undefined ? {} : { clientTools: tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(debug === true ? { debug } : {}),
  };
}
