import type { Claim, Journal, Ownership } from "../../core/journal/journal.ts";
import { beginning, endOfRun, inputText } from "../../core/run/digest.ts";
import { isTerminal, type RunEvent } from "../../core/run/events.ts";
import type { FeedItem } from "../../core/run/feed.ts";
import { type AskedEvent, isAnswered, isAsked, type PendingQuestion } from "../../core/run/questions.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { historyOrNothing } from "../../journal/history.ts";
import { openQuestions } from "./approval-questions.ts";

/** Rows examined per second, of the newest, the running and the waiting runs. */
const page = 100;

/** Ended runs remembered, so that none is reported twice. */
const mostEnded = 2_000;

interface Known {
  readonly tenant: string;
  readonly agent: string;
  /** Seq up to which everything was reported. The flags below tell what was reported, since a run may be seen both here and in a list. */
  head: number;
  started: boolean;
  ended: boolean;
  readonly questions: Map<string, AskedEvent["type"]>;
}

interface Target {
  /** Whether this process executes the run and reports it itself. */
  isHere(run: string): boolean;
  tell(tenant: string, item: FeedItem): void;
  /** Reports a queued run early: readers who got this are not told again when it begins. */
  foretell(tenant: string, item: FeedItem & { readonly run: string }): void;
}

/** Detects changes of runs in other processes by comparing the journal's lists with the known state, from `begin` to `end`. */
export class ElsewhereWatch {
  readonly #journal: Journal;
  readonly #target: Target;
  readonly #known = new Map<string, Known>();
  #watching = false;
  #looking = false;
  #isReady = false;
  /** Resolves when the existing runs are known; everything later is news. */
  ready: Promise<void> = Promise.resolve();

  constructor(journal: Journal, target: Target) {
    this.#journal = journal;
    this.#target = target;
  }

  begin(): Promise<void> {
    this.#watching = true;
    this.ready = this.#rows().then(async (rows) => {
      for (const row of rows) await this.#learn(row);
      this.#isReady = true;
    });
    return this.ready;
  }

  end(): void {
    this.#watching = false;
  }

  #tell(tenant: string, item: FeedItem): void {
    if (this.#watching) this.#target.tell(tenant, item);
  }

  /** The seq already reported for a run that begins to execute here: another process may have written part of it. */
  toldUpTo({ run, head }: Ownership): number {
    return Math.min(head, this.#known.get(run)?.head ?? (this.#isReady ? 0 : head));
  }

  /** Whether an event of a run executing here is news; false if it was already found in a list. */
  isNews({ tenant, request: { agent } }: Claim, event: RunEvent): boolean {
    const known = this.#known.get(event.run) ?? nothingOf(tenant, agent);
    this.#known.set(event.run, known);
    known.head = Math.max(known.head, event.seq);
    const { started, ended, questions } = known;
    if (isAsked(event)) return questions.size < questions.set(event.call, event.type).size;
    if (isAnswered(event)) return questions.delete(event.call);
    known.started ||= event.type === "run.started";
    known.ended ||= isTerminal(event);
    return event.type === "run.started" ? !started : !isTerminal(event) || !ended;
  }

  /** If the journal fails, the next look tries again. */
  async look(): Promise<void> {
    if (this.#looking || !this.#watching) return;
    this.#looking = true;
    try {
      await this.ready;
      const rows = await this.#rows();
      const listed = new Set(rows.map(({ run }) => run));
      for (const row of rows) if (this.#watching) await this.#compare(row);
      for (const [run, { ended }] of [...this.#known]) {
        if (!this.#watching) break;
        if (ended || listed.has(run) || this.#target.isHere(run)) continue;
        const row = await this.#journal.get(run);
        if (row === undefined) this.#known.delete(run);
        else await this.#compare(row);
      }
      this.#forget();
    } catch {
      // Everything else that uses the journal reports the failure.
    } finally {
      this.#looking = false;
    }
  }

  async #rows(): Promise<RunRow[]> {
    const queries = [{ limit: page }, { state: "running" as const, limit: page }, { waiting: true, limit: page }];
    const lists = await Promise.all(queries.map((query) => this.#journal.list(query)));
    const rows = new Map<string, RunRow>();
    for (const { runs } of lists) for (const row of runs) rows.set(row.run, row);
    return [...rows.values()];
  }

  async #compare(row: RunRow): Promise<void> {
    const { run, agent, tenant } = row;
    if (this.#target.isHere(run)) return;
    const isNew = !this.#known.has(run);
    const known = this.#known.get(run) ?? nothingOf(tenant, agent);
    if (known.ended || (!isNew && row.head <= known.head)) return;
    this.#known.set(run, known);
    if (row.head === 0) this.#target.foretell(tenant, startedItem(row));
    else if (!known.started) this.#tell(tenant, startedItem(row));
    known.started = row.head > 0;
    // If one of these fails, the next look finds the same news again.
    await this.#compareQuestions(row, known);
    if (row.state === "done") await this.#tellEnd(row, known);
    // A run that has begun here meanwhile reports the rest itself.
    if (!this.#target.isHere(run)) known.head = Math.max(known.head, row.head);
  }

  async #compareQuestions(row: RunRow, known: Known): Promise<void> {
    if (row.asking === 0 && known.questions.size === 0) return;
    const { run, agent, tenant } = row;
    const pending = await openQuestions(this.#journal, row);
    if (this.#target.isHere(run) || known.ended) return;
    for (const { kind, call, name, since, until } of pending) {
      if (known.questions.has(call)) continue;
      const type = askedType(kind);
      known.questions.set(call, type);
      const item = { run, agent, at: since, call, name, ...(until === undefined ? {} : { until }) };
      this.#tell(tenant, { type, ...item });
    }
    for (const [call, asked] of [...known.questions]) {
      if (pending.some((question) => question.call === call)) continue;
      known.questions.delete(call);
      const type = asked === "question.asked" ? "question.answered" : "approval.resolved";
      this.#tell(tenant, { type, run, agent, at: row.updatedAt, call });
    }
  }

  async #tellEnd(row: RunRow, known: Known): Promise<void> {
    const digest = row.digest ?? endOfRun(row, await historyOrNothing(this.#journal, row))?.digest;
    if (known.ended) return;
    known.ended = true;
    if (digest === undefined) return;
    const { run, agent, tenant } = row;
    const type = digest.status === "finished" ? "run.finished" : "run.failed";
    this.#tell(tenant, { type, run, agent, at: digest.endedAt, digest });
  }

  async #learn(row: RunRow): Promise<void> {
    const { run, tenant, agent, head } = row;
    const pending = await openQuestions(this.#journal, row);
    if (this.#known.has(run)) return; // The run began to execute here meanwhile.
    const questions = new Map(pending.map(({ call, kind }) => [call, askedType(kind)]));
    this.#known.set(run, { tenant, agent, head, started: head > 0, ended: row.state === "done", questions });
  }

  #forget(): void {
    let over = this.#known.size - mostEnded;
    for (const [run, { ended }] of this.#known) {
      if (over <= 0) return;
      if (!ended) continue;
      this.#known.delete(run);
      over -= 1;
    }
  }
}

const nothingOf = (tenant: string, agent: string): Known => ({
  tenant,
  agent,
  head: 0,
  started: false,
  ended: false,
  questions: new Map(),
});

const startedItem = ({ run, agent, session, createdAt, request }: RunRow): FeedItem & { readonly run: string } => ({
  type: "run.started",
  run,
  agent,
  at: createdAt,
  ...(session === undefined ? {} : { session }),
  ...(request.parent === undefined ? {} : { parent: request.parent.run }),
  ...(request.caller === undefined ? {} : { by: request.caller.id }),
  input: beginning(inputText(request.input), 200),
});

const askedType = (kind: PendingQuestion["kind"]): AskedEvent["type"] =>
  kind === "approve" ? "approval.requested" : "question.asked";
