import { FileGone } from "./identity.ts";
import { UnusableFile } from "./schema.ts";

/** SQLite's primary result codes with actionable advice. https://www.sqlite.org/rescode.html */
const advice: Readonly<Record<number, string>> = {
  5: "another process keeps it locked; if it is no longer running, nothing needs doing",
  6: "another process keeps it locked; if it is no longer running, nothing needs doing",
  8: "it is read-only; give this user the right to write to the file and its folder",
  10: "the disk could not be read or written; see the system's log, and whether a quota or `ulimit -f` limits the file",
  11: "it is corrupt; restore it from a backup, or recover what is left with `sqlite3 FILE .recover`",
  // Measured on a full disk: a prune fails until its own writes, and the log that is copied into the file, have room.
  13: "its disk is full: free as much as its -wal file has, then prune old runs; or it has reached journal.maxSize: prune",
  14: "it cannot be opened; check that its folder is there and may be written to",
  26: "it is not a SQLite database; choose another journal.path",
};

const broken: ReadonlySet<number> = new Set([8, 10, 11, 14, 26]);

/** The value itself is at fault: too big, of the wrong type, or not bindable. */
const ofValue: ReadonlySet<number> = new Set([18, 20, 25]);

/** For callers, who do not learn where the file is; `cause` says it to the log. */
export function explain(thrown: unknown, file: string): { failure: string; cause: string } {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const isOurs = thrown instanceof UnusableFile || thrown instanceof FileGone;
  const what = isOurs ? said : advice[codeOf(thrown)];
  const failure = what === undefined ? `the journal failed: ${said}` : `the journal cannot be used: ${what}`;
  return { failure, cause: isOurs ? file : `${file}: ${said}` };
}

export const isFull = (thrown: unknown): boolean => codeOf(thrown) === 13;

export const isLocked = (thrown: unknown): boolean => codeOf(thrown) === 5;

export const needsReopening = (thrown: unknown): boolean => broken.has(codeOf(thrown));

export const isPermanent = (thrown: unknown): boolean =>
  ofValue.has(codeOf(thrown)) || thrown instanceof RangeError || thrown instanceof TypeError;

/** The low byte of an extended code is the primary one. */
const codeOf = (thrown: unknown): number =>
  thrown instanceof Error && "errcode" in thrown ? Number(thrown.errcode) & 0xff : 0;
