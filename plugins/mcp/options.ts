import { egressOptions } from "venturi/internal";
import { Duration, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { OAuthOptions } from "./oauth/options.ts";
import { SamplingOptions } from "./sampling.ts";

export const McpOptions = z
  .strictObject({
    ...toolOptions,
    command: z.string().optional().describe("program of a stdio server"),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}).describe("environment variables of the server"),
    passEnv: z.array(z.string()).default([]).describe("environment variables of the service to pass on"),
    cwd: z.string().optional().describe("folder the server runs in; relative to the config's folder"),
    url: z.url().optional().describe("address of a streamable HTTP server"),
    headers: z.record(z.string(), z.string()).default({}),
    protocol: z
      .enum(["auto", "2025-11-25", "2026-07-28"])
      .default("auto")
      .describe("protocol revision; auto: the newest that the server supports. 2025-11-25 includes older ones"),
    auth: OAuthOptions.optional().describe("OAuth 2.1, for a streamable HTTP server that requires it"),
    elicitation: z.boolean().default(true).describe("forward the server's questions to the run; false refuses them"),
    sampling: SamplingOptions.optional().describe("allow the server to request model answers; default: refused"),
    tasks: z
      .boolean()
      .default(false)
      .describe("allow calls to become tasks of the server (2026-07-28), found again after a restart"),
    resources: z.boolean().default(false).describe("offer tools that list and read the server's resources"),
    prompts: z.boolean().default(false).describe("offer tools that list and get the server's prompts"),
    ...egressOptions,
    tools: z.array(z.string()).optional().describe("tools of the server to offer; default: all"),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]{0,32}$/, "use letters, digits, _ and -, at most 32 of them")
      .optional()
      .describe("prefix of the tools' names; default: `<key>_`"),
    pin: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/, "expected sha256: and 64 hex digits, as the log tells them at the start")
      .optional()
      .describe("hash of the tools a person has reviewed; others are not offered"),
    effects: z
      .record(z.string(), z.enum(["pure", "idempotent", "effectful"]))
      .default({})
      .describe("effect by tool, overriding the server's own hints"),
    connectTimeout: Duration.default(15_000),
    backoff: z.strictObject({ first: Duration.default(500), most: Duration.default(30_000) }).prefault({}),
    optional: z.boolean().default(false).describe("start without the server and keep trying"),
  })
  .refine((options) => (options.command === undefined) !== (options.url === undefined), {
    error: "give either command (a stdio server) or url (a streamable HTTP server)",
  })
  .refine((options) => options.auth === undefined || options.url !== undefined, {
    path: ["auth"],
    error: "only a streamable HTTP server takes it",
  });
export type McpOptions = z.output<typeof McpOptions>;
