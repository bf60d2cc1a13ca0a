import type { Log } from "../core/log.ts";
import { forOneLine } from "../core/terminal-text.ts";
import type { TelemetrySettings } from "./config/telemetry.ts";

type Level = keyof Log;
type Fields = Readonly<Record<string, unknown>>;
export type LogLevel = NonNullable<TelemetrySettings["logs"]["level"]>;
const levels: readonly Level[] = ["debug", "info", "warn", "error"];

/** Bytes that wait for a reader that has stopped; later lines are dropped. */
const mostWaiting = 1024 * 1024;
/** Processes share stderr, and only writes up to this length (PIPE_BUF) stay in one piece in a pipe. */
const longestWrite = 4096;

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
  // A synchronous write would hold up every stream while the reader is woken, and for as long as it reads nothing.
  const destination = pino.destination({ fd: 2, sync: false, maxLength: mostWaiting, maxWrite: longestWrite });
  let dropped = 0;
  destination.on("drop", () => {
    dropped += 1;
  });
  const log = pino(options, destination);
  destination.on("drain", () => {
    const lines = dropped;
    dropped = 0;
    if (lines > 0) log.warn({ lines }, "log lines were dropped: stderr is read too slowly");
  });
  const write = (name: Level) => (message: string, fields?: Fields) => log[name](fields ?? {}, message);
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

export function textLog(least: Level | "silent", write: (line: string) => void): Log {
  const line = (name: Level) => (message: string, fields?: Fields) => {
    if (least === "silent" || levels.indexOf(name) < levels.indexOf(least)) return;
    const known = Object.entries(fields ?? {}).filter(([, value]) => value !== undefined);
    const rest = known.map(([key, value]) => ` ${key}=${textOf(value)}`);
    // May contain untrusted text; keep it on one line.
    const words = forOneLine(`${message}${rest.join("")}`);
    write(`${new Date().toISOString().slice(11, 23)} ${name.padEnd(5)} ${words}\n`);
  };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
