import { token } from "../values/token.ts";

/** Structured logging: ids, names, codes and numbers only; no content, no secrets. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** The same log including debug lines, whatever its level: for a run that asked for them. Absent: use this one. */
  readonly verbose?: Log;
}
export const Log = token<Log>("Log");

const nothing = () => {};
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
