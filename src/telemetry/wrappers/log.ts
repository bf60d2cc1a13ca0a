import { type Logger, SeverityNumber } from "@opentelemetry/api";
import type { Log } from "../../core/ports/log.ts";
import { attributes as names } from "../base/names.ts";
import type { LogLevel } from "../base/settings.ts";
import { contextOf } from "../base/traceparent.ts";
import { type RedactLimits, Redactor } from "./redact.ts";
import type { Tracing } from "./traces.ts";

type Level = Exclude<keyof Log, "verbose">;
type Fields = Readonly<Record<string, unknown>>;

const order: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];
const severities = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
} as const;

/** Limits for one field, and for all: log lines are for reading, whatever a model, tool or caller put into them. */
const limits: RedactLimits = { text: 4_096, items: 100, nodes: 1_000 };

/** Wraps the log: adds trace and span ids to lines that name a run, and exports each line. */
export function measuredLog(measure: Tracing, log: Log): Log {
  const redactor = new Redactor(measure.settings.redact);
  const least = order.indexOf(measure.settings.logs.level);
  const { logger } = measure.sdk;
  const write = (to: Log, least: number, level: Level) => (message: string, fields?: Fields) => {
    if (order.indexOf(level) < least) return;
    const run = fields?.run;
    const span = typeof run === "string" ? measure.traces.spanContext(run) : undefined;
    const ids = span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
    const clean = fields === undefined ? {} : (redactor.value(plain(fields), limits) as Fields); // An object maps to an object.
    const text = redactor.text(message, limits.text);
    to[level](text, { ...clean, ...ids });
    if (logger !== undefined) emit(logger, { level, text, fields: clean, span });
  };
  const logFrom = (to: Log, from: number): Log => ({
    debug: write(to, from, "debug"),
    info: write(to, from, "info"),
    warn: write(to, from, "warn"),
    error: write(to, from, "error"),
  });
  const isSilent = measure.settings.logs.level === "silent";
  return { ...logFrom(log, least), ...(isSilent ? {} : { verbose: logFrom(log.verbose ?? log, 0) }) };
}

function emit(
  logger: Logger,
  line: { level: Level; text: string; fields: Fields; span: Parameters<typeof contextOf>[0] },
): void {
  const attributes = Object.fromEntries(
    Object.entries(line.fields).map(([key, value]) => [attributeOf(key), simple(value)] as const),
  );
  logger.emit({
    severityNumber: severities[line.level],
    severityText: line.level,
    body: line.text,
    attributes,
    context: contextOf(line.span),
  });
}

/** Fields with a name in the conventions or our spans. */
const known: Readonly<Record<string, string>> = {
  run: names.run,
  agent: names.agent,
  session: names.conversation,
  tenant: names.tenant,
  tool: names.toolName,
  call: names.toolCall,
  provider: names.providerKey,
  model: names.requestModel,
  code: names.errorType,
  error: "exception.message",
  reason: "venturi.reason",
  inputTokens: names.inputTokens,
  outputTokens: names.outputTokens,
  cacheReadTokens: names.cacheReadTokens,
  cacheWriteTokens: names.cacheWriteTokens,
  round: names.roundIndex,
  finish: names.finish,
  rounds: names.rounds,
  url: "url.full",
  pid: "process.pid",
};

/** Other fields get our prefix and snake case, since all programs share one attribute namespace. */
const attributeOf = (field: string): string =>
  known[field] ??
  (field.includes(".") ? field : `venturi.${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`);

/** Errors in their JSON form, without cause and stack. */
const plain = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [
        key,
        value instanceof Error ? ("toJSON" in value ? JSON.parse(JSON.stringify(value)) : value.message) : value,
      ]),
  );

const simple = (value: unknown): string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : (JSON.stringify(value) ?? "");
