import { writeSync } from "node:fs";
import type { Holder } from "../../core/ports/held.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Writes a log line synchronously: for a process or thread without its own log, or about to end. */
export async function writeLine(
  { textLog }: { readonly textLog: boolean },
  level: "info" | "warn" | "error",
  { message, ...fields }: Fields & { readonly message: string },
): Promise<void> {
  const put = (line: string): void => {
    try {
      writeSync(2, line);
    } catch {
      // stderr is full or closed.
    }
  };
  if (!textLog) {
    put(`${JSON.stringify({ level, time: new Date().toISOString(), pid: process.pid, ...fields, message })}\n`);
    return;
  }
  const { textLog: asText } = await import("../system/log.ts");
  asText("info", put)[level](message, fields);
}

/** Log fields naming the largest memory user of a process that may have run out of memory. */
export const heldBy = (holder: Holder | undefined): Fields =>
  holder === undefined
    ? {}
    : { holder: holder.tenant, holds: inMebibytes(holder.bytes), held: inMebibytes(holder.held) };

const inMebibytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
