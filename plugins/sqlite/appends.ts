import type { Billed } from "venturi/plugin";
import { Ledger } from "./money.ts";
import type { AppendColumns, AttemptEnd, DigestRow } from "./protocol.ts";
import * as sql from "./sql.ts";
import type { Statements } from "./statements.ts";

interface Row {
  readonly epoch: number;
  readonly base: number;
  readonly head: number;
  readonly body: string;
  readonly asks: number;
  readonly end: AttemptEnd | undefined;
  readonly digest: DigestRow | undefined;
  readonly billed: Billed | undefined;
}

const mostIds = 50_000;
const stays = { freed: false };

/** Statements of every commit. The caller holds a transaction open. */
export class Appends {
  readonly #ask: Statements;
  /** Row ids of runs this process appends to. Ids are never reused, so a stale one matches nothing. */
  readonly #ids = new Map<string, number>();

  constructor(ask: Statements) {
    this.#ask = ask;
  }

  append(columns: AppendColumns): { fenced: number[]; work: boolean } {
    const fenced: number[] = [];
    let work = false;
    const ledger = new Ledger(this.#ask);
    const now = this.#ask.get<{ now: number }>(sql.readClock)?.now ?? 0;
    for (const [index, run] of columns.runs.entries()) {
      const row = rowAt(columns, index);
      const id = this.#ids.get(run) ?? this.#learn(run);
      const put = id === undefined ? undefined : this.#put(row, { id, now, ledger });
      if (put === undefined && (id === undefined || !this.#isThere(row, id))) fenced.push(index);
      if (put === undefined || row.end !== undefined) this.#ids.delete(run);
      if (put?.freed) work = true;
    }
    ledger.write();
    return { fenced, work };
  }

  /** Returns whether it made a run claimable; undefined when it was fenced. */
  #put(
    { base, head, epoch, body, asks, end, digest, billed }: Row,
    { id, now, ledger }: { readonly id: number; readonly now: number; readonly ledger: Ledger },
  ): { freed: boolean } | undefined {
    if (head > base) {
      const { changes, lastInsertRowid } = this.#ask.run(sql.insertRecord, base, head, epoch, body, id, epoch, base);
      if (changes === 0) return undefined;
      this.#ask.run(sql.advance, head, lastInsertRowid, now, id);
      if (asks !== 0) this.#ask.run(sql.ask, asks, id);
    }
    if (billed !== undefined) ledger.bill(id, billed);
    if (end === undefined) return stays;
    const [left] = this.#ask.all<{ session: string | null; state: string }>(sql.leave, { id, epoch, head, ...end });
    if (left && digest !== undefined) this.keepDigest(id, digest);
    return left && { freed: left.state === "ready" || (left.state === "done" && left.session !== null) };
  }

  keepDigest(id: number, { ms, code, cost, tools, models, digest, text }: DigestRow): void {
    this.#ask.run(sql.insertDigest, id, ms, code, cost, tools, models, digest);
    if (text !== null) this.#ask.run(sql.insertText, id, text);
  }

  /** Whether an append whose response was lost is already stored. */
  #isThere({ base, head, epoch, body }: Row, id: number): boolean {
    if (head === base) return this.#ask.get(sql.findLeft, id, epoch, base) !== undefined;
    return this.#ask.all(sql.findRecord, { id, after: base, limit: head - base, epoch, body }).length > 0;
  }

  #learn(run: string): number | undefined {
    const id = this.#ask.get<{ id: number }>(sql.findRun, run)?.id;
    if (this.#ids.size >= mostIds) this.#ids.clear();
    if (id !== undefined) this.#ids.set(run, id);
    return id;
  }
}

const rowAt = ({ epochs, bases, heads, bodies, asks, ends, digests, billed }: AppendColumns, index: number): Row => ({
  epoch: epochs[index] ?? 0,
  base: bases[index] ?? 0,
  head: heads[index] ?? 0,
  body: bodies[index] ?? "",
  asks: asks?.get(index) ?? 0,
  end: ends?.get(index),
  digest: digests?.get(index),
  billed: billed?.get(index),
});
