import { readFileSync } from "node:fs";
import type { Code } from "../core/errors/codes.ts";
import { messageOf, VenturiError } from "../core/errors/errors.ts";

/** What system errors mean to whoever typed the command: a wrong name or number, not a fault of Venturi. */
const codes: Readonly<Record<string, Code>> = {
  ENOENT: "not_found",
  ENOTDIR: "invalid_input",
  EISDIR: "invalid_input",
  EEXIST: "conflict",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "forbidden",
  EADDRINUSE: "conflict",
  EADDRNOTAVAIL: "invalid_input",
  ENOTFOUND: "invalid_input",
  ENAMETOOLONG: "invalid_input",
};

/** The error code for what a command failed with. */
export function codeOf(thrown: unknown): Code {
  const code = thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  return codes[code] ?? (/^ERR_(?:INVALID|OUT_OF_RANGE|SOCKET_BAD_PORT)/.test(code) ? "invalid_input" : "internal");
}

export const unreadable = (op: string, file: string, cause: unknown): VenturiError =>
  new VenturiError(op, codeOf(cause), `${file} cannot be read: ${messageOf(cause)}`, { cause });

export function readText(op: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(op, file, cause);
  }
}
