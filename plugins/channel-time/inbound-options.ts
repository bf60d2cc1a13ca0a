import { Duration, Size } from "venturi/plugin";
import { z } from "zod";
import { what } from "./schedule-options.ts";

export const schemes = ["standard", "github", "stripe", "slack"] as const;

const secret = z.string().min(8, "a secret has at least 8 characters");

export const InboundOptions = z.strictObject({
  from: z.enum(schemes).describe("whose signature it is: Standard Webhooks, GitHub, Stripe or Slack"),
  secret: z
    .union([secret, z.array(secret).min(1).max(4)])
    .meta({ secret: true })
    .describe("the signing secret that the other system shows; several while one is replaced by another"),
  agent: what.agent,
  input: z
    .string()
    .min(1)
    .describe("what it is asked; {{body.issue.title}}, {{headers.x-github-event}} and {{body}} are filled in"),
  session: z.string().min(1).max(256).optional().describe("conversation its runs go on; a template too"),
  events: z
    .array(z.string())
    .optional()
    .describe(
      "only these kinds: of X-GitHub-Event, of `type` at Stripe and Standard Webhooks, of `event.type` at Slack",
    ),
  metadata: what.metadata,
  notify: what.notify,
  tenant: z.string().min(1).max(128).prefault("default").describe("owner of its runs"),
  tolerance: Duration.prefault("5m").describe("how old a signature may be, where it has a time; GitHub's has none"),
  maxBody: Size.prefault("1MiB").describe("largest body"),
  maxInput: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .prefault(65_536)
    .describe("characters of the filled-in input; the rest is cut off"),
});
export type InboundOptions = z.output<typeof InboundOptions>;
