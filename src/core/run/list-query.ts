import { VenturiError } from "../errors/errors.ts";
import type { Outcome } from "./events.ts";
import type { FeedbackFilter } from "./feedback.ts";
import type { RunState } from "./run-row.ts";

export interface ListQuery {
  /** Without it: of all tenants but `shadowTenant`. */
  readonly tenant?: string;
  readonly agent?: string;
  /** Only runs of these agents; an empty list matches nothing. */
  readonly agents?: readonly string[];
  readonly session?: string;
  readonly state?: RunState;
  readonly outcome?: Outcome;
  /** True: only unfinished runs that are parked or have an open question. False: only the others. */
  readonly waiting?: boolean;
  readonly cursor?: string;
  readonly limit?: number;
  /** Oldest first; newest first when absent. */
  readonly oldestFirst?: boolean;
  /** The answer may lag behind, also behind this process's own writes: an engine may ask a read replica. */
  readonly mayLag?: boolean;
  /** Created at or after, and before; ms since the epoch. */
  readonly since?: number;
  readonly until?: number;
  /** Id of the key that started it. */
  readonly by?: string;
  /** Ended runs whose input or output has all these words, or words that begin with them. */
  readonly text?: string;
  /** Ended runs that called this tool, used this model, failed with this code, took at least this long. */
  readonly tool?: string;
  readonly model?: string;
  readonly code?: string;
  readonly minMs?: number;
  /** Runs whose request has these values at the top of its metadata: texts, or numbers and booleans as JSON writes them. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Only ended runs, in this order instead of that of their arrival; `costliest`: only those whose cost is known. */
  readonly sort?: "longest" | "costliest";
}

/** What the host answers beyond a journal: what is kept beside the runs. */
export interface RunsQuery extends ListQuery {
  /** Runs that somebody gave such feedback. */
  readonly feedback?: FeedbackFilter;
}

/** Metadata as filters compare it: undefined for what is no text, number or boolean. */
export const metadataText = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;

/** Position in a sorted list: the value of its last run, and the run's place. */
export function sortCursor(cursor: string): { readonly value: number; readonly id: number } {
  const [value, id] = cursor.split("_").map(Number);
  if (value === undefined || id === undefined || Number.isNaN(value) || !Number.isInteger(id)) {
    throw new VenturiError("journal.list", "invalid_input", "the cursor belongs to a list in another order");
  }
  return { value, id };
}

/** Whether the query asks about what only digests tell. */
export const asksDigests = ({ text, tool, model, code, minMs, sort }: ListQuery): boolean =>
  [text, tool, model, code, minMs, sort].some((asked) => asked !== undefined);

/** The rejection of such a query by a journal without them. */
export const noDigests = (why: string): VenturiError =>
  new VenturiError("journal.list", "invalid_input", `runs cannot be searched: ${why}`);
