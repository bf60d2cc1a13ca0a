import type { Log } from "../../core/ports/log.ts";
import { forOneLine } from "../../core/values/terminal-text.ts";
import type { TelemetrySettings } from "../config/telemetry.ts";
import { stderrWriter } from "./line-writer.ts";

type Level = Exclude<keyof Log, "verbose">;
type Fields = Readonly<Record<string, unknown>>;
export type LogLevel = NonNullable<TelemetrySettings["logs"]["level"]>;
const levels: readonly Level[] = ["debug", "info", "warn", "error"];

/** Whether log lines are for people, so that other output may be mixed in. */
export const isTextLog = ({ format }: Pick<TelemetrySettings["logs"], "format">): boolean =>
  format === "text" || (format === "auto" && process.stderr.isTTY === true);

/** Logs to stderr: JSON lines for programs, text for people. */
export async function openLog({
  level,
  format,
}: {
  readonly level: LogLevel;
  readonly format: TelemetrySettings["logs"]["format"];
}): Promise<Log> {
  if (isTextLog({ format })) return textLog(level, (line) => process.stderr.write(line));
  const { pino } = await import("pino");
  const options = {
    level,
    base: { pid: process.pid },
    messageKey: "message",
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // A synchronous write would block every stream until the reader takes it.
  const writer = stderrWriter();
  const log = pino(options, { write: (line) => writer.add(line) });
  const all = level === "silent" ? log : log.child({}, { level: "debug" });
  const write = (to: typeof log, name: Level) => (message: string, fields?: Fields) => {
    const lines = writer.takeDropped();
    if (lines > 0)
      log.warn({ lines }, "log lines were dropped: stderr could not be written to, or was read too slowly");
    to[name](fields === undefined ? {} : apart(fields), message);
  };
  return { ...byLevel((name) => write(log, name)), verbose: byLevel((name) => write(all, name)) };
}

/** Keys that every line has. A field of the same name would duplicate it, which parsers resolve differently or refuse. */
const own = ["level", "time", "pid", "message"] as const;

const apart = (fields: Fields): Fields =>
  own.some((name) => name in fields)
    ? Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [
          (own as readonly string[]).includes(key) ? `${key}_` : key,
          value,
        ]),
      )
    : fields;

export function textLog(least: Level | "silent", write: (line: string) => void): Log {
  const line = (from: Level, name: Level) => (message: string, fields?: Fields) => {
    if (least === "silent" || levels.indexOf(name) < levels.indexOf(from)) return;
    const known = Object.entries(fields ?? {}).filter(([, value]) => value !== undefined);
    const rest = known.map(([key, value]) => ` ${key}=${textOf(value)}`);
    // May contain untrusted text; keep it on one line.
    const words = forOneLine(`${message}${rest.join("")}`);
    write(`${new Date().toISOString().slice(11, 23)} ${name.padEnd(5)} ${words}\n`);
  };
  const from = least === "silent" ? "error" : least;
  return { ...byLevel((name) => line(from, name)), verbose: byLevel((name) => line("debug", name)) };
}

const byLevel = (write: (name: Level) => Log["info"]): Log => ({
  debug: write("debug"),
  info: write("info"),
  warn: write("warn"),
  error: write("error"),
});

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
