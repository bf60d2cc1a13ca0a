import { RunState } from "../../agent/state/run-state.ts";
import { sessionMessages } from "../../agent/state/session-messages.ts";
import { VenturiError } from "../../core/errors.ts";
import type { RunEvent } from "../../core/events.ts";
import type { Journal, RunRow } from "../../core/journal.ts";
import type { Message } from "../../core/messages.ts";
import { readHistory } from "../../journal/history.ts";

interface Remembered {
  readonly runs: Set<string>;
  readonly messages: Message[];
}

/** A run and the conversation it goes on. */
export interface Turn {
  readonly tenant: string;
  readonly session: string;
  readonly run: string;
}

const page = 50;
/** Sessions kept in memory; the journal has them all. */
const most = 256;

/**
 * Conversations as the journal tells them. What was folded once is remembered, so that a turn costs what it adds and not what
 * the session has grown to; runs of other replicas are found in the journal's list, newest first, down to a known one.
 */
export class Sessions {
  readonly #journal: Journal;
  readonly #remembered = new Map<string, Remembered>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Everything said in the session before this run. */
  async before(turn: Turn): Promise<readonly Message[]> {
    const name = JSON.stringify([turn.tenant, turn.session]);
    const known = this.#remembered.get(name) ?? { runs: new Set<string>(), messages: [] };
    this.#remembered.delete(name);
    this.#remembered.set(name, known);
    for (const row of await this.#unknown(turn, known.runs)) {
      const events = await this.#readable(row);
      if (known.runs.has(row.run)) continue; // a run cancelled in the line reads at the same time as the one at work
      known.runs.add(row.run);
      known.messages.push(...sessionMessages(RunState.of(events)));
    }
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > most && oldest !== undefined) this.#remembered.delete(oldest);
    return [...known.messages];
  }

  /** What was remembered no longer holds: it is read from the journal again. */
  forget(tenant: string, session: string): void {
    this.#remembered.delete(JSON.stringify([tenant, session]));
  }

  /** A run whose records are damaged is left out: the conversation goes on without it. */
  async #readable(row: RunRow): Promise<readonly RunEvent[]> {
    try {
      return await readHistory(this.#journal, row);
    } catch (thrown) {
      if (VenturiError.isInstance(thrown) && thrown.code === "record_invalid") return [];
      throw thrown;
    }
  }

  /** Ended runs of the session that are not remembered, oldest first. */
  async #unknown({ tenant, session, run }: Turn, known: ReadonlySet<string>): Promise<RunRow[]> {
    const found: RunRow[] = [];
    let cursor: string | undefined;
    do {
      const query = { tenant, session, state: "done" as const, limit: page };
      const listed = await this.#journal.list(cursor === undefined ? query : { ...query, cursor });
      for (const row of listed.runs) if (row.run !== run && !known.has(row.run)) found.push(row);
      // Not at the first known one: a run cancelled in the line ends before one that began before it.
      cursor = listed.runs.some((row) => known.has(row.run)) ? undefined : listed.cursor;
    } while (cursor !== undefined);
    return found.reverse();
  }
}
