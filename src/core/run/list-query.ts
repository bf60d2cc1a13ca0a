import { VenturiError } from "../errors/errors.ts";
import type { Outcome } from "./events.ts";
import type { FeedbackFilter } from "./feedback.ts";
import type { RunState } from "./run-row.ts";

export interface ListQuery {
  /** Default: all tenants except `shadowTenant`. */
  readonly tenant?: string;
  readonly agent?: string;
  /** Only runs of these agents; an empty list matches nothing. */
  readonly agents?: readonly string[];
  readonly session?: string;
  readonly state?: RunState;
  readonly outcome?: Outcome;
  /** True: only unfinished runs that are parked or have an open question. False: all others. */
  readonly waiting?: boolean;
  readonly cursor?: string;
  readonly limit?: number;
  /** Default: newest first. */
  readonly oldestFirst?: boolean;
  /** The result may lag behind, even behind this process's own writes: an engine may use a read replica. */
  readonly mayLag?: boolean;
  /** Created at or after, and before; ms since the epoch. */
  readonly since?: number;
  readonly until?: number;
  /** Id of the key that started it. */
  readonly by?: string;
  /** Ended runs whose input or output contains all these words or prefixes. */
  readonly text?: string;
  /** Ended runs that called this tool, used this model, failed with this code, took at least this long. */
  readonly tool?: string;
  readonly model?: string;
  readonly code?: string;
  readonly minMs?: number;
  /** Runs with these values at the top level of their metadata: strings, or numbers and booleans as JSON text. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Only ended runs, in this order instead of by arrival; `costliest`: only those with a known cost. */
  readonly sort?: "longest" | "costliest";
}

/** Queries the host answers beyond the journal: by notes about runs. */
export interface RunsQuery extends ListQuery {
  /** Runs with such feedback. */
  readonly feedback?: FeedbackFilter;
}

/** A metadata value as filters compare it; undefined unless it is a string, number or boolean. */
export const metadataText = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;

/** Position in a sorted list: the value of the last run, and its id. */
export function sortCursor(cursor: string): { readonly value: number; readonly id: number } {
  const [value, id] = cursor.split("_").map(Number);
  if (value === undefined || id === undefined || Number.isNaN(value) || !Number.isSafeInteger(id)) throw notGiven();
  return { value, id };
}

/** Position in a list by arrival: the id of the last run. Checked here, because callers send what they like and engines fail on it. */
export function arrivalCursor(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor)) throw notGiven();
  return Number(cursor);
}

const notGiven = () => new VenturiError("journal.list", "invalid_input", "this list did not give that cursor");

/** Whether the query needs digests. */
export const asksDigests = ({ text, tool, model, code, minMs, sort }: ListQuery): boolean =>
  [text, tool, model, code, minMs, sort].some((asked) => asked !== undefined);

/** The error for such a query to a journal without digests. */
export const noDigests = (why: string): VenturiError =>
  new VenturiError("journal.list", "invalid_input", `runs cannot be searched: ${why}`);
