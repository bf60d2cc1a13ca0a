import type { Claim, Journal } from "../../core/journal/journal.ts";
import { beginning, endOfRun, inputText } from "../../core/run/digest.ts";
import { isTerminal, type RunEvent } from "../../core/run/events.ts";
import type { FeedItem } from "../../core/run/feed.ts";
import { type AskedEvent, isAnswered, isAsked, type PendingQuestion } from "../../core/run/questions.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { historyOrNothing } from "../../journal/history.ts";
import { openQuestions } from "./approval-questions.ts";

/** Rows looked at once a second, of the newest, the running and the waiting runs. */
const page = 100;

/** Ended runs remembered, so that none is reported twice. */
const mostEnded = 2_000;

interface Known {
  readonly tenant: string;
  readonly agent: string;
  head: number;
  ended: boolean;
  readonly questions: Map<string, AskedEvent["type"]>;
}

interface Target {
  /** Whether this process executes the run and tells of it itself. */
  isHere(run: string): boolean;
  tell(tenant: string, item: FeedItem): void;
}

/** Notices what happens to runs of other processes by comparing the journal's lists with what is known. */
export class ElsewhereWatch {
  readonly #journal: Journal;
  readonly #target: Target;
  readonly #known = new Map<string, Known>();
  #watching = false;
  #looking = false;
  /** Resolves when what existed before is known, so that everything from then on is news. */
  ready: Promise<void> = Promise.resolve();

  constructor(journal: Journal, target: Target) {
    this.#journal = journal;
    this.#target = target;
  }

  begin(): Promise<void> {
    this.#watching = true;
    this.ready = this.#rows().then(async (rows) => {
      for (const row of rows) await this.#learn(row);
    });
    return this.ready;
  }

  end(): void {
    this.#watching = false;
    this.#known.clear();
  }

  /** An event of a run that executes here: not to be reported again. */
  seen({ tenant, request: { agent } }: Claim, event: RunEvent): void {
    const known = this.#known.get(event.run) ?? { tenant, agent, head: 0, ended: false, questions: new Map() };
    this.#known.set(event.run, known);
    known.head = event.seq;
    if (isAsked(event)) known.questions.set(event.call, event.type);
    if (isAnswered(event)) known.questions.delete(event.call);
    if (isTerminal(event)) known.ended = true;
  }

  /** A failing journal is tried again with the next look. */
  async look(): Promise<void> {
    if (this.#looking || !this.#watching) return;
    this.#looking = true;
    try {
      await this.ready;
      const rows = await this.#rows();
      const listed = new Set(rows.map(({ run }) => run));
      for (const row of rows) await this.#compare(row);
      for (const [run, { ended }] of [...this.#known]) {
        if (ended || listed.has(run) || this.#target.isHere(run)) continue;
        const row = await this.#journal.get(run);
        if (row === undefined) this.#known.delete(run);
        else await this.#compare(row);
      }
      this.#forget();
    } catch {
      // reported by everything else that uses the journal
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
    const known = this.#known.get(run);
    if (this.#target.isHere(run)) {
      if (known === undefined) await this.#learn(row);
      return;
    }
    if (known?.ended) return;
    if (known === undefined) {
      // Known with nothing: its questions and its end are told too.
      this.#known.set(run, { tenant, agent, head: 0, ended: false, questions: new Map() });
      this.#target.tell(tenant, startedItem(row));
      return await this.#compare(row);
    }
    if (row.head <= known.head) return;
    known.head = row.head;
    await this.#compareQuestions(row, known);
    if (row.state === "done") await this.#tellEnd(row, known);
  }

  async #compareQuestions(row: RunRow, known: Known): Promise<void> {
    if (row.asking === 0 && known.questions.size === 0) return;
    const { run, agent, tenant } = row;
    const pending = await openQuestions(this.#journal, row);
    for (const { kind, call, name, since, until } of pending) {
      if (known.questions.has(call)) continue;
      const type = askedType(kind);
      known.questions.set(call, type);
      const item = { run, agent, at: since, call, name, ...(until === undefined ? {} : { until }) };
      this.#target.tell(tenant, { type, ...item });
    }
    for (const [call, asked] of [...known.questions]) {
      if (pending.some((question) => question.call === call)) continue;
      known.questions.delete(call);
      const type = asked === "question.asked" ? "question.answered" : "approval.resolved";
      this.#target.tell(tenant, { type, run, agent, at: row.updatedAt, call });
    }
  }

  async #tellEnd(row: RunRow, known: Known): Promise<void> {
    known.ended = true;
    const digest = row.digest ?? endOfRun(row, await historyOrNothing(this.#journal, row))?.digest;
    if (digest === undefined) return;
    const { run, agent, tenant } = row;
    const type = digest.status === "finished" ? "run.finished" : "run.failed";
    this.#target.tell(tenant, { type, run, agent, at: digest.endedAt, digest });
  }

  async #learn(row: RunRow): Promise<void> {
    const { run, tenant, agent, head } = row;
    const pending = await openQuestions(this.#journal, row);
    if (this.#known.has(run)) return; // it began to execute here meanwhile
    const questions = new Map(pending.map(({ call, kind }) => [call, askedType(kind)]));
    this.#known.set(run, { tenant, agent, head, ended: row.state === "done", questions });
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

const startedItem = ({ run, agent, session, createdAt, request }: RunRow): FeedItem => ({
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
