import { Duration, definePlugin, defineTool, fromToolOptions, toolOptions, VenturiError } from "venturi/plugin";
import { z } from "zod";

const parameters = z.strictObject({
  question: z.string().min(1).max(4_000).describe("What you want to know, as one question"),
  choices: z
    .array(z.string().min(1).max(500))
    .min(2)
    .max(20)
    .optional()
    .describe("The possible answers, where there are a few"),
  fields: z
    .record(z.string().max(64), z.enum(["text", "number", "boolean"]))
    .optional()
    .describe("For several answers at once: the name and type of each"),
});

export default definePlugin({
  name: "ask",
  kind: "tool",
  description: "Asks a person and waits: free text, a choice, or a form",
  options: z.strictObject({
    ...toolOptions,
    description: z
      .string()
      .min(1)
      .default("Asks the person you work for and waits for the answer. For what only they know or may decide.")
      .describe("description for the model"),
    wait: Duration.optional().describe("how long to wait for an answer; default: the agent's approvalTimeout"),
    fallback: z.string().optional().describe("answer to a question without choices or fields when nobody replies"),
  }),
  create: (options, { name, clock }) =>
    defineTool({
      ...fromToolOptions(options),
      name,
      description: options.description,
      input: parameters,
      effect: "pure",
      resumable: true,
      local: true,
      async call({ question, choices, fields }, context) {
        if (choices !== undefined && fields !== undefined) {
          throw new VenturiError("tool.call", "tool_failed", "give choices or fields, not both");
        }
        const isOpen = choices === undefined && fields === undefined;
        const { approved, answer, reason } = await context.ask({
          id: "1",
          kind: "input",
          name,
          message: question,
          ...(choices === undefined ? {} : { choices }),
          ...(fields === undefined ? {} : { schema: schemaOf(fields) }),
          ...(options.wait === undefined ? {} : { until: clock.now() + options.wait }),
          ...(options.fallback === undefined || !isOpen ? {} : { fallback: options.fallback }),
        });
        if (approved) return answer;
        return `There is no answer${reason === undefined ? "" : `: ${reason}`}. Go on without it, or say what you need.`;
      },
    }),
});

function schemaOf(fields: Readonly<Record<string, "text" | "number" | "boolean">>): Record<string, unknown> {
  const types = Object.entries(fields).map(([field, type]) => [field, { type: type === "text" ? "string" : type }]);
  return {
    type: "object",
    properties: Object.fromEntries(types),
    required: Object.keys(fields),
    additionalProperties: false,
  };
}
