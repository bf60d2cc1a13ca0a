import { egressOptions } from "venturi/internal";
import { Duration } from "venturi/plugin";
import { z } from "zod";

export const webhookEvents = [
  "run.finished",
  "run.failed",
  "question.asked",
  "question.answered",
  "budget.exceeded",
  "budget.reached",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

const secret = z.string().min(16, "a secret has at least 16 characters");
export const Secrets = z
  .union([secret, z.array(secret).min(1).max(4)])
  .meta({ secret: true })
  .describe("signing secret: text, or whsec_ and base64; several during a rotation");

const Url = z
  .url({ protocol: /^https?$/, error: "expected a URL such as https://crm.example.com/venturi" })
  .refine((url) => !/^[^/]*\/\/[^/]*@/.test(url), { error: "a URL with a user name in it is refused" });

export const WebhookOptions = z.strictObject({
  url: Url.optional().describe(
    "where deliveries are sent; without it, only runs that give a URL in `notify` are reported",
  ),
  secret: Secrets,
  events: z.array(z.enum(webhookEvents)).min(1).prefault(["run.finished", "run.failed"]).describe("events to report"),
  agents: z.array(z.string()).optional().describe("only runs of these agents"),
  tenants: z.array(z.string()).optional().describe("only runs of these tenants; default: all"),
  runs: z.enum(["all", "notify"]).prefault("all").describe("`notify`: only runs that ask for it with `notify`"),
  content: z.boolean().prefault(false).describe("include content: output, metadata, and the arguments of questions"),
  format: z
    .enum(["venturi", "a2a"])
    .prefault("venturi")
    .describe("`a2a`: deliveries are task updates, for push notifications of the channel `a2a`"),
  timeout: Duration.prefault("15s").describe("timeout of a delivery"),
  attempts: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .prefault(80)
    .describe("attempts before a delivery is given up; 80 take three days"),
  retry: z
    .strictObject({
      first: Duration.prefault("5s").describe("wait after the first failure; doubled with each"),
      longest: Duration.prefault("1h").describe("longest wait"),
    })
    .prefault({})
    .describe("waits between attempts"),
  concurrency: z.number().int().min(1).max(64).prefault(8).describe("concurrent deliveries, of different runs"),
  ...egressOptions,
});
export type WebhookOptions = z.output<typeof WebhookOptions>;

/** Wait before the next try, ms. */
export const backoff = (attempts: number, { first, longest }: WebhookOptions["retry"]): number =>
  Math.min(longest, first * 2 ** Math.min(Math.max(0, attempts - 1), 30));
