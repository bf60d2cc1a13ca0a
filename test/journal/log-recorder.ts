import type { Log } from "../../src/core/ports/log.ts";

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export function recorder(): { log: Log; lines: Line[]; line(message: string): Line | undefined } {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, message, fields });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { log, lines, line: (message) => lines.find((line) => line.message === message) };
}
