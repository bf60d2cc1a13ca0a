import { z } from "zod";
import { VenturiError } from "./errors.ts";
import { generationOptions } from "./generation-options.ts";
import type { RunRequest } from "./journal.ts";
import type { GenerationOptions } from "./provider.ts";

type Named = typeof generationOptions;
const named = Object.entries(generationOptions).map(([key, schema]) => [key, schema.nullable()]);

/** Generation options of one call. `null` takes back what the config set. */
export const CallOptions = z.looseObject(Object.fromEntries(named) as { [K in keyof Named]: z.ZodNullable<Named[K]> });

const emptyObject = { type: "object", properties: {} };

/** A tool of the client's own. */
const ClientTool = z.strictObject({
  name: z.string().min(1).max(128),
  description: z.string().default(""),
  parameters: z.record(z.string(), z.unknown()).default(emptyObject).describe("JSON Schema of the arguments"),
});

const ToolChoice = z.union([z.enum(["auto", "none", "required"]), z.strictObject({ name: z.string().min(1) })]);

/** What a call may say beyond its agent and input; to be spread into the body of a channel's own request. */
export const callSettings = {
  model: z.string().min(1).optional().describe("instead of the agent's model, where the agent allows it"),
  options: CallOptions.optional().describe("generation options, merged over the agent's; null takes one back"),
  tools: z
    .array(ClientTool)
    .max(128)
    .optional()
    .describe("tools of the client: offered, never run here, returned as calls"),
  toolChoice: ToolChoice.optional().describe("whether the first round has to call a tool, and which"),
};
const Settings = z.strictObject(callSettings);
export type CallSettings = z.input<typeof Settings>;

/** The settings as a run's request keeps them; what is absent stays absent. Throws `invalid_input`. */
export function callRequest(
  settings: CallSettings,
): Pick<RunRequest, "model" | "options" | "clientTools" | "toolChoice"> {
  const parsed = Settings.safeParse(settings);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue?.path.join(".") || "the call"}: ${issue?.message ?? "not valid"}`;
    throw new VenturiError("run.start", "invalid_input", message);
  }
  const { model, options, tools, toolChoice } = parsed.data;
  return {
    ...(model === undefined ? {} : { model }),
    ...(options === undefined ? {} : { options: options as GenerationOptions }), // `null` is gone once they are merged
    ...(tools === undefined ? {} : { clientTools: tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
  };
}
