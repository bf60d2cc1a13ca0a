import { UnusableDatabase } from "./schema.ts";

/** SQLSTATE classes and codes that a person can do something about. */
const advice: readonly (readonly [prefix: string, what: string])[] = [
  ["28", "it refuses the user or the password; check journal.url"],
  ["3D", "the database does not exist; create it, or check journal.url"],
  ["42501", "its user lacks a right; grant it CREATE on the database, or create the schema for it"],
  ["25006", "it is read-only; it may be a standby that has not been promoted yet"],
  ["53100", "its disk is full"],
  ["53300", "it has no connection left; lower journal.pool or raise max_connections"],
  ["57P", "it is shutting down or starting up"],
];

/** The same statement may go through when it is simply asked again: serialisation failure, deadlock. */
const transient: ReadonlySet<string> = new Set(["40001", "40P01"]);

export const isTransient = (thrown: unknown): boolean => transient.has(stateOf(thrown));

/** Anything the server did not say in so many words came from the connection; and some of what it says ends it. */
export function isConnectionLost(thrown: unknown): boolean {
  if (thrown instanceof UnusableDatabase) return false;
  const state = stateOf(thrown);
  return state === "" || state.startsWith("08") || state.startsWith("57P") || state === "25006";
}

export function explain(thrown: unknown): { message: string; unusable: boolean } {
  if (thrown instanceof UnusableDatabase) return { message: thrown.message, unusable: true };
  const state = stateOf(thrown);
  const said = saidBy(thrown);
  const what = advice.find(([prefix]) => state.startsWith(prefix))?.[1];
  if (what !== undefined)
    return { message: `the journal's database cannot be used: ${what}`, unusable: isSetup(state) };
  if (state === "") return { message: `the journal's database cannot be reached: ${said}`, unusable: false };
  return { message: `the journal's database failed: ${said} (${state})`, unusable: false };
}

const isSetup = (state: string): boolean => /^(28|3D|42501)/.test(state);

/** Node tells of several addresses that all failed as one error without a message. */
function saidBy(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(saidBy).join("; ");
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A five-letter SQLSTATE; Node's own codes (ECONNRESET) are not. */
function stateOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^[0-9A-Z]{5}$/.test(code) && code !== "EPIPE" ? code : "";
}
