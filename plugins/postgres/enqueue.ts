import { tooManyRuns } from "venturi/internal";
import { type Claim, type Enqueue, VenturiError } from "venturi/plugin";
import type { Ask, Database } from "./database.ts";
import type { Hints } from "./hints.ts";
import type { Statements } from "./sql.ts";

const op = "journal.enqueue";

type Enqueued = { run: string; existing: boolean; claim?: Claim };
type Wanted = Pick<Enqueue, "run" | "tenant" | "session">;

/** Admits new runs: one per key, sessions in turn, within the caller's run limit. */
export class Enqueueing {
  readonly #database: Database;
  readonly #sql: Statements;
  readonly #hints: Hints;

  constructor(database: Database, sql: Statements, hints: Hints) {
    this.#database = database;
    this.#sql = sql;
    this.#hints = hints;
  }

  async enqueue(item: Enqueue): Promise<Enqueued> {
    const { session } = item;
    const { caller } = item.request;
    const limited = caller?.concurrentRuns !== undefined;
    const change = { work: false };
    const enqueued =
      session === undefined && !limited
        ? await this.#insert(item, change, (text, values) => this.#database.query(op, text, values))
        : await this.#database.transaction(op, async (ask) => {
            // Always in this order, to avoid deadlock.
            if (limited) await this.#lock(ask, item.tenant, "caller", caller.id);
            await this.lockSession(ask, item);
            return this.#insert(item, change, ask);
          });
    // Only now is it visible to a claim by this process.
    if (change.work) this.#hints.tell(change);
    return enqueued;
  }

  async lockSession(ask: Ask, { tenant, session }: Wanted): Promise<void> {
    if (session !== undefined) await this.#lock(ask, tenant, "session", session);
  }

  /** Why a run could not be inserted. */
  async whyNot({ run, session }: Wanted, ask: Ask): Promise<string> {
    const taken = await ask(this.#sql.findRun, [run]);
    return taken.length > 0 ? `the run ${run} already exists` : `the session ${session} has an active run`;
  }

  async #lock(ask: Ask, ...names: readonly string[]): Promise<void> {
    await ask(this.#sql.lockSession, [JSON.stringify([this.#database.schema, ...names])]);
  }

  async #insert(item: Enqueue, change: { work: boolean }, ask: Ask): Promise<Enqueued> {
    const { run, tenant, key = null, session = null, request, claimFor = null } = item;
    const existing = key === null ? [] : await ask<{ run: string }>(this.#sql.findKey, [tenant, key]);
    if (existing[0]) return { run: existing[0].run, existing: true };
    const { caller } = request;
    if (caller?.concurrentRuns !== undefined) {
      const [counted] = await ask<{ open: number }>(this.#sql.countOpen, [tenant, caller.id]);
      if ((counted?.open ?? 0) >= caller.concurrentRuns) throw tooManyRuns(caller.concurrentRuns);
    }
    const hint = [this.#hints.channel, this.#hints.payload({ work: true })];
    const refuseBusy = item.whenBusy === "conflict";
    const asked = [run, key, session, request.agent, JSON.stringify(request), claimFor, refuseBusy, ...hint];
    const values = [...asked, tenant, request.revision ?? null, caller?.id ?? null];
    const [added] = await ask<{ state: string; busy: boolean }>(this.#sql.enqueue, values);
    if (!added) return this.#refused(item, ask);
    if (added.state === "running" && claimFor !== null) {
      const ownership = { run, session: item.session, epoch: 1, worker: claimFor, head: 0 };
      return { run, existing: false, claim: { ownership, tenant, request, signals: 0 } };
    }
    change.work = !added.busy;
    return { run, existing: false };
  }

  /** Nothing was inserted: another enqueue with the key came first, the id is taken, or the session is busy. */
  async #refused(item: Enqueue, ask: Ask): Promise<Enqueued> {
    const { tenant, key } = item;
    const [known] = key === undefined ? [] : await ask<{ run: string }>(this.#sql.findKey, [tenant, key]);
    if (known) return { run: known.run, existing: true };
    throw new VenturiError(op, "conflict", await this.whyNot(item, ask));
  }
}
