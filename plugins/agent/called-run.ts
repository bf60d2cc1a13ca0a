import { costOfAll, Spending } from "venturi/internal";
import {
  type AnsweredEvent,
  type AskedEvent,
  isTerminal,
  type RunEvent,
  type TerminalEvent,
  type ToolContext,
  VenturiError,
  type Verdict,
} from "venturi/plugin";

export interface Called {
  readonly run: string;
  readonly agent: string;
  readonly context: ToolContext;
  /** Forwards an answer to the called run. `question`: another one each time, also when the same call is asked about again. */
  answer(call: string, verdict: Verdict, question: string): Promise<boolean>;
}

/** A run called as a tool: its progress and its questions become the caller's. */
export class CalledRun {
  readonly #called: Called;
  /** Open questions, by the called run's ids. */
  readonly #open = new Map<string, (verdict: Verdict) => void>();
  readonly #asked = new Map<string, number>();
  /** The called run's usage, which includes that of runs it called. */
  readonly #spending = new Spending();

  constructor(called: Called) {
    this.#called = called;
  }

  /** The terminal event, or undefined when the caller's signal aborted first. */
  async follow(batches: AsyncIterable<readonly RunEvent[]>): Promise<TerminalEvent | undefined> {
    const { context, run } = this.#called;
    try {
      for await (const batch of batches) {
        const before = this.#spending.own.total;
        const text = batch.map((event) => this.#take(event)).join("");
        const { total } = this.#spending.own;
        const last = batch.at(-1);
        const end = last !== undefined && isTerminal(last) ? last : undefined;
        if (end !== undefined) context.spent(end.usage, costOfAll(end));
        else if (total !== before) context.spent(total);
        if (text !== "") context.progress(text);
        if (end !== undefined) return end;
      }
    } finally {
      for (const settle of this.#open.values()) settle({ approved: false, reason: "the called run has ended" });
    }
    if (context.signal.aborted) return undefined;
    throw new VenturiError("tool.call", "tool_failed", `the run ${run} ended without an outcome`);
  }

  /** The progress text shown to the caller's followers. */
  #take(event: RunEvent): string {
    this.#spending.apply(event);
    switch (event.type) {
      case "text.delta":
      case "tool.output":
        return event.text;
      case "tool.started":
        return `\n→ ${event.name}\n`;
      case "tool.finished":
        return event.ok ? "" : `\n✗ ${event.name}: ${event.error?.err ?? "failed"}\n`;
      case "approval.requested":
      case "question.asked":
        this.#ask(event);
        return "";
      case "approval.resolved":
      case "question.answered":
        this.#open.get(event.call)?.(verdictOf(event));
        this.#open.delete(event.call);
        return "";
      default:
        return "";
    }
  }

  #ask({ type: _, run: __, seq: ___, at: ____, round: _____, call, origin, ...asked }: AskedEvent): void {
    const { run, agent, context, answer } = this.#called;
    const times = (this.#asked.get(call) ?? 0) + 1;
    this.#asked.set(call, times);
    const { promise: settled, resolve } = Promise.withResolvers<Verdict>();
    let elsewhere = false;
    this.#open.set(call, (verdict) => {
      elsewhere = true;
      resolve(verdict);
    });
    const question = {
      ...asked,
      id: times === 1 ? call : `${call}-${times}`,
      origin: origin ?? { run, call, agent },
      settled,
    };
    context
      .ask(question)
      .then(async (verdict) => {
        if (!elsewhere) await answer(call, verdict, question.id);
      })
      .catch((thrown: unknown) => {
        if (context.signal.aborted) return;
        const error = thrown instanceof Error ? thrown.message : String(thrown);
        context.log.warn("an answer did not reach the called run", { run: context.run, child: run, call, error });
      });
  }
}

function verdictOf(event: AnsweredEvent): Verdict {
  const { reason, by } = event;
  const said = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
  if (event.type === "approval.resolved") return { approved: event.approved, ...said };
  return { approved: event.answered, ...said, ...(event.answer === undefined ? {} : { answer: event.answer }) };
}
