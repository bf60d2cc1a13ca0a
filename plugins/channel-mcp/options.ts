import { Duration } from "venturi/plugin";
import { z } from "zod";

const PublishedResource = z
  .strictObject({
    uri: z.string().min(1).describe("URI of the resource; with `{name}`, a template"),
    name: z.string().min(1),
    description: z.string().optional(),
    mimeType: z.string().default("text/plain"),
    text: z.string().optional().describe("the content; `{{name}}` is replaced by the value of `{name}` in the URI"),
    file: z.string().optional().describe("a file with the content, relative to the config's folder"),
  })
  .refine(({ text, file }) => (text === undefined) !== (file === undefined), { error: "give either text or file" })
  .refine(({ uri, file }) => file === undefined || !uri.includes("{"), { error: "a template has a text" });
export type PublishedResource = z.output<typeof PublishedResource>;

const PublishedPrompt = z.strictObject({
  description: z.string().optional(),
  arguments: z
    .record(z.string(), z.strictObject({ description: z.string().optional(), required: z.boolean().default(false) }))
    .default({}),
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.record(z.string(), z.unknown()) }))
    .min(1)
    .describe("messages as in the protocol; `{{name}}` in a text is replaced by the argument"),
});
export type PublishedPrompt = z.output<typeof PublishedPrompt>;

export const Options = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]+$/)
    .default("/mcp")
    .describe("where the server is mounted"),
  taskAfter: Duration.default(10_000).describe(
    "calls that take longer are answered with a task handle, if the client supports tasks",
  ),
  resources: z.array(PublishedResource).default([]).describe("resources in addition to runs and sessions"),
  prompts: z.record(z.string(), PublishedPrompt).default({}).describe("prompts in addition to the agents"),
});
export type Options = z.output<typeof Options>;
