import { FileGone } from "./identity.ts";
import { UnusableFile } from "./schema.ts";

/** SQLite's primary result codes with actionable advice. https://www.sqlite.org/rescode.html */
const advice: Readonly<Record<number, string>> = {
  5: "another process keeps it locked; if it is no longer running, nothing needs doing",
  6: "another process keeps it locked; if it is no longer running, nothing needs doing",
  8: "it is read-only; give this user the right to write to the file and its folder",
  10: "the disk could not be read or written",
  11: "it is corrupt; restore it from a backup, or recover what is left with `sqlite3 FILE .recover`",
  13: "the disk, or the size it may grow to (journal.maxSize), is full; make room or prune old runs",
  14: "it cannot be opened; check that its folder is there and may be written to",
  26: "it is not a SQLite database; choose another journal.path",
};

const broken: ReadonlySet<number> = new Set([8, 10, 11, 14, 26]);

/** The value itself is at fault: too big, of the wrong type, or not bindable. */
const ofValue: ReadonlySet<number> = new Set([18, 20, 25]);

export function explain(thrown: unknown, file: string): string {
  if (thrown instanceof FileGone) return `the journal cannot be used: ${thrown.message}`;
  const what = thrown instanceof UnusableFile ? thrown.message : advice[codeOf(thrown)];
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  return what === undefined ? `the journal ${file} failed: ${said}` : `the journal ${file} cannot be used: ${what}`;
}

export const isLocked = (thrown: unknown): boolean => codeOf(thrown) === 5;

export const needsReopening = (thrown: unknown): boolean => broken.has(codeOf(thrown));

export const isPermanent = (thrown: unknown): boolean =>
  ofValue.has(codeOf(thrown)) || thrown instanceof RangeError || thrown instanceof TypeError;

/** The low byte of an extended code is the primary one. */
const codeOf = (thrown: unknown): number =>
  thrown instanceof Error && "errcode" in thrown ? Number(thrown.errcode) & 0xff : 0;
