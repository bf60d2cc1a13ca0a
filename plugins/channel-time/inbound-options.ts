import { Duration, Size } from "venturi/plugin";
import { z } from "zod";
import { what } from "./schedule-options.ts";

export const schemes = ["standard", "github", "stripe", "slack"] as const;

const secret = z.string().min(8, "a secret has at least 8 characters");

export const InboundOptions = z.strictObject({
  from: z.enum(schemes).describe("signature scheme: Standard Webhooks, GitHub, Stripe or Slack"),
  secret: z
    .union([secret, z.array(secret).min(1).max(4)])
    .meta({ secret: true })
    .describe("signing secret of the other system; several during a rotation"),
  agent: what.agent,
  input: z
    .string()
    .min(1)
    .describe("input of the run; {{body.issue.title}}, {{headers.x-github-event}} and {{body}} are filled in"),
  session: z.string().min(1).max(256).optional().describe("conversation that its runs continue; a template too"),
  events: z
    .array(z.string())
    .optional()
    .describe(
      "only these event types: X-GitHub-Event, `type` for Stripe and Standard Webhooks, `event.type` for Slack",
    ),
  metadata: what.metadata,
  notify: what.notify,
  tenant: z.string().min(1).max(128).prefault("default").describe("owner of its runs"),
  tolerance: Duration.prefault("5m").describe("maximum age of a signature, if it has a timestamp; GitHub's has none"),
  maxBody: Size.prefault("1MiB").describe("maximum body size"),
  maxInput: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .prefault(65_536)
    .describe("maximum characters of the input; the rest is cut off"),
});
export type InboundOptions = z.output<typeof InboundOptions>;
