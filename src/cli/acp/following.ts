import type { Runs } from "../../core/ports/runs.ts";
import { type EventOf, isTerminal, type RunEvent, type TerminalEvent } from "../../core/run/events.ts";
import { type AskedEvent, isAnswered, isAsked } from "../../core/run/questions.ts";
import type { Updates } from "./updates.ts";

/** How far a run has been shown; `asked`: the question it waits for. */
export interface OpenQuestion {
  readonly run: string;
  readonly seq: number;
  readonly updates: Updates;
  readonly asked?: EventOf<"question.asked">;
}

interface Reader {
  readonly place: OpenQuestion;
  show(events: readonly RunEvent[]): Promise<void>;
  /** False if only a message of the user can answer it. */
  ask(event: AskedEvent, closed: AbortSignal): Promise<boolean>;
}

interface End {
  readonly last?: TerminalEvent;
  readonly open?: OpenQuestion;
}

/** Shows a run as it proceeds and asks its questions in parallel. */
export class Following {
  readonly ended: Promise<End>;
  readonly #runs: Runs;
  readonly #reader: Reader;
  readonly #asked = new Map<string, AbortController>();
  readonly #stop = new AbortController();
  #open: EventOf<"question.asked"> | undefined;
  #failed: unknown;

  constructor(runs: Runs, reader: Reader) {
    this.#runs = runs;
    this.#reader = reader;
    this.ended = this.#follow();
  }

  /** Stops reading; the run continues. */
  leave(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<End> {
    const { run, updates } = this.#reader.place;
    let { seq } = this.#reader.place;
    try {
      for (const question of seq === 0 ? [] : await this.#runs.pending(run)) await this.#again(question.call);
      for await (const batch of this.#runs.follow(run, { after: seq, signal: this.#stop.signal, channel: "acp" })) {
        await this.#reader.show(batch);
        seq = batch.at(-1)?.seq ?? seq;
        for (const event of batch) {
          if (isTerminal(event)) return { last: event };
          if (isAsked(event)) this.#ask(event);
          if (isAnswered(event)) this.#close(event.call);
        }
      }
    } catch (thrown) {
      if (!this.#stop.signal.aborted) throw thrown;
    } finally {
      for (const call of [...this.#asked.keys()]) this.#close(call);
    }
    if (this.#failed !== undefined) throw this.#failed;
    return this.#open === undefined ? {} : { open: { run, seq, updates, asked: this.#open } };
  }

  /** Asks again a question from before this reader, whose event is in the past. */
  async #again(call: string): Promise<void> {
    const { run } = this.#reader.place;
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page = await this.#runs.events(run, { after: next, steps: true });
      const event = page.events.filter(isAsked).find((each) => each.call === call);
      if (event !== undefined) return this.#ask(event);
      next = page.next;
    }
  }

  #ask(event: AskedEvent): void {
    const { call, run } = event;
    const closed = new AbortController();
    this.#asked.set(call, closed);
    const asking = async (): Promise<void> => {
      // It may belong to a fork's original, or have been answered meanwhile.
      const isOpen = (await this.#runs.pending(run)).some((question) => question.call === call);
      if (!isOpen || closed.signal.aborted || (await this.#reader.ask(event, closed.signal))) return;
      if (event.type === "question.asked") this.#open = event;
      this.#stop.abort();
    };
    asking()
      .catch((thrown: unknown) => {
        this.#failed = thrown;
        this.#stop.abort();
      })
      .finally(() => this.#asked.delete(call));
  }

  #close(call: string): void {
    this.#asked.get(call)?.abort();
    this.#asked.delete(call);
  }
}
