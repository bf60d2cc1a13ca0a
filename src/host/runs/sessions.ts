import { RunState } from "../../agent/state/run-state.ts";
import { extendSession } from "../../agent/state/session-messages.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Message } from "../../core/model/messages.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { historyOrNothing } from "../../journal/history.ts";
import { isOf, noSession } from "../../journal/session-agents.ts";

interface Remembered {
  readonly runs: Set<string>;
  messages: Message[];
  /** Model of the last run that used one. */
  model: string | undefined;
}

/** A run and its session. */
export interface Turn {
  readonly tenant: string;
  readonly session: string;
  readonly run: string;
  /** The agents that its caller is limited to. */
  readonly agents?: readonly string[] | undefined;
  /** It has begun, and goes on. */
  readonly begun?: boolean;
}

const nothingKnown = (): Remembered => ({ runs: new Set(), messages: [], model: undefined });

const page = 50;
/** Sessions cached in memory; the journal has them all. */
const most = 256;

/**
 * Conversations derived from the journal. Folded runs are cached, so that a turn reads the events it adds rather than the session's; other
 * replicas' runs, and runs they removed, are found in the journal's list (a page per 50 runs).
 */
export class Sessions {
  readonly #journal: Journal;
  readonly #remembered = new Map<string, Remembered>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The session's messages before this run. */
  async before(turn: Turn): Promise<readonly Message[]> {
    const name = JSON.stringify([turn.tenant, turn.session]);
    const all = await this.#ended(turn);
    const { agents, begun = false } = turn;
    const ended = agents === undefined ? all : all.filter((row) => isOf(row, agents));
    const isWhole = ended.length === all.length;
    if (!isWhole && !begun) throw noSession(turn.session);
    // Another agent's run that ended while this one waited, for an approval say, is left out here and for this run only.
    const known = isWhole ? this.#current(name, ended) : nothingKnown();
    for (const row of ended) {
      if (row.run === turn.run || known.runs.has(row.run)) continue;
      const events = await this.#readable(row);
      if (known.runs.has(row.run)) continue; // A run cancelled in the queue reads concurrently with the running one.
      known.runs.add(row.run);
      const state = RunState.of(events);
      known.messages = extendSession(known.messages, state);
      known.model = state.model ?? known.model;
    }
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > most && oldest !== undefined) this.#remembered.delete(oldest);
    return [...known.messages];
  }

  /** The cache entry, now the newest. Made anew when one of its runs was removed: what is erased must not reach a model again. */
  #current(name: string, ended: readonly RunRow[]): Remembered {
    const listed = new Set(ended.map(({ run }) => run));
    const cached = this.#remembered.get(name);
    const isCurrent = cached !== undefined && [...cached.runs].every((run) => listed.has(run));
    const known = isCurrent ? cached : nothingKnown();
    this.#remembered.delete(name);
    this.#remembered.set(name, known);
    return known;
  }

  /** The model used by the session's last run, once `before` has been called. */
  lastModel({ tenant, session }: Omit<Turn, "run">): string | undefined {
    return this.#remembered.get(JSON.stringify([tenant, session]))?.model;
  }

  /** Drops a stale cache entry; it is read from the journal again. */
  forget(tenant: string, session: string): void {
    this.#remembered.delete(JSON.stringify([tenant, session]));
  }

  /** A run with damaged records is left out; the conversation continues without it. */
  async #readable(row: RunRow): Promise<readonly RunEvent[]> {
    try {
      return await historyOrNothing(this.#journal, row);
    } catch (thrown) {
      if (VenturiError.isInstance(thrown) && thrown.code === "record_invalid") return [];
      throw thrown;
    }
  }

  /** All ended runs of the session, oldest first. */
  async #ended({ tenant, session }: Turn): Promise<RunRow[]> {
    const found: RunRow[] = [];
    let cursor: string | undefined;
    do {
      const query = { tenant, session, state: "done" as const, limit: page };
      const listed = await this.#journal.list(cursor === undefined ? query : { ...query, cursor });
      found.push(...listed.runs);
      cursor = listed.cursor;
    } while (cursor !== undefined);
    return found.reverse();
  }
}
