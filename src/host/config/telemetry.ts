import { z } from "zod";
import { redactPattern } from "../../telemetry/wrappers/redact-pattern.ts";

const Otlp = z.union(
  [
    z.string(),
    z.strictObject({
      endpoint: z.string().describe("OTLP over HTTP, such as http://localhost:4318; nothing is sent when empty."),
      headers: z
        .record(z.string(), z.string())
        .prefault({})
        .meta({ secret: true })
        .describe("Headers to send, such as credentials."),
    }),
  ],
  { error: "expected an endpoint such as http://localhost:4318, or {endpoint, headers}" },
);

const Settings = z.strictObject({
  chunks: z
    .enum(["spans", "events", "metrics"])
    .prefault("spans")
    .describe("Record each chunk as a span, as an event, or only in metrics."),
  maxChunkSpans: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("Maximum chunk spans per generation, and appends per run. Default: unlimited; metrics count all."),
  content: z
    .enum(["off", "truncated", "full"])
    .prefault("off")
    .describe("Whether prompts, outputs, tool arguments and results go into spans."),
  redact: z
    .array(z.string().refine(isPattern, "expected a regular expression without lookaround and backreferences"))
    .prefault([])
    .describe(
      "Regular expressions, matched by RE2 in linear time; what matches is removed from content before it is recorded.",
    ),
  otlp: Otlp.prefault("")
    .transform((otlp) => (typeof otlp === "string" ? { endpoint: otlp, headers: {} } : otlp))
    .describe("Where traces and metrics are sent; default: nowhere."),
  prometheus: z.boolean().prefault(true).describe("Serve /metrics."),
  ring: z
    .number()
    .int()
    .nonnegative()
    .prefault(200)
    .describe("Runs whose spans are kept in memory for `venturi trace`."),
  logs: z
    .strictObject({
      level: z
        .enum(["debug", "info", "warn", "error", "silent"])
        .optional()
        .describe("Minimum log level; default: info in the service, warn in programs and commands."),
      format: z
        .enum(["auto", "json", "text"])
        .prefault("auto")
        .describe("Log format; auto: text on a terminal, JSON elsewhere."),
    })
    .prefault({})
    .describe("Logs, on stderr."),
});

/** `off` disables measurement but not logging. */
export const TelemetrySettings = z
  .union([z.literal("off"), Settings])
  .transform((value) =>
    value === "off" ? { enabled: false, ...Settings.parse({ prometheus: false }) } : { enabled: true, ...value },
  );
export type TelemetrySettings = z.output<typeof TelemetrySettings>;

function isPattern(text: string): boolean {
  try {
    redactPattern(text);
    return true;
  } catch {
    return false;
  }
}
