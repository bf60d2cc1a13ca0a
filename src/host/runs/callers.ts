import type { Journal } from "../../core/journal/journal.ts";
import type { PendingQuestion } from "../../core/run/questions.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { SignalBody } from "../../core/run/signals.ts";
import { askedAbout, openQuestions } from "./approval-questions.ts";

/**
 * The runs that wait for a run they called. They may be parked without an owner, so whatever closes one of its questions is forwarded to
 * them.
 */
export class Callers {
  readonly #journal: Journal;
  readonly #row: RunRow;

  constructor(journal: Journal, row: RunRow) {
    this.#journal = journal;
    this.#row = row;
  }

  /** Forwards the answer to a question of the called run. */
  async answered({ call, arguments: _, for: __, ...verdict }: SignalBody<"approve">): Promise<void> {
    const own = (await openQuestions(this.#journal, this.#row)).find((question) => question.call === call);
    const asked = own?.origin ?? { run: this.#row.run, call };
    await this.#tell((question) => question.origin?.run === asked.run && question.origin.call === asked.call, verdict);
  }

  /** The called run was stopped, so its questions are void. */
  async ended(reason: string): Promise<void> {
    const { run } = this.#row;
    await this.#tell((question) => question.origin?.run === run, { approved: false, reason });
  }

  async #tell(concerns: (question: PendingQuestion) => boolean, verdict: Omit<SignalBody<"approve">, "call">) {
    let { parent } = this.#row.request;
    while (parent !== undefined) {
      const row = await this.#journal.get(parent.run);
      if (row === undefined) return;
      const question = (await openQuestions(this.#journal, row)).find(concerns);
      if (question !== undefined) {
        const { call } = question;
        const { count } = await askedAbout(this.#journal, row.run, call);
        await this.#journal.signal(row.run, {
          id: `approve:${call}:${count}`,
          kind: "approve",
          body: { call, ...verdict },
        });
      }
      parent = row.request.parent;
    }
  }
}
