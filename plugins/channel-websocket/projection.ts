import type { EventOf, RunEvent } from "venturi/plugin";
import { Sentences } from "venturi/plugin/channel";

export interface Projected {
  /** Last seq the client has seen. */
  readonly after: number;
  readonly sentences: boolean;
  readonly id?: string | undefined;
}

/** A run's events as socket messages, each with the run and the seq to resume from. */
export class Projection {
  readonly #after: number;
  readonly #id: { id?: string };
  #sentences: Sentences | undefined;

  constructor({ after, sentences, id }: Projected) {
    this.#after = after;
    this.#id = id === undefined ? {} : { id };
    this.#sentences = sentences ? new Sentences() : undefined;
  }

  /** A sentence may have begun before `after`, so they are assembled from the start and emitted from `after` on. */
  get from(): number {
    return this.#sentences === undefined ? this.#after : 0;
  }

  *messages(batch: readonly RunEvent[]): Generator<string> {
    for (const event of batch) yield* this.#project(event);
  }

  #project(event: RunEvent): readonly string[] {
    const messages = this.#messages(event);
    return event.seq <= this.#after ? [] : messages;
  }

  #messages(event: RunEvent): readonly string[] {
    const { run, seq } = event;
    switch (event.type) {
      case "run.started":
        return [json({ type: "stream_start", run, seq, ...startOf(event), ...this.#id })];
      case "text.delta":
        return this.#text(event);
      case "reasoning.delta":
        return event.text === ""
          ? []
          : [json({ type: "stream_chunk", run, seq, kind: "reasoning", delta: event.text })];
      case "refusal.delta":
        return [json({ type: "stream_chunk", run, seq, kind: "refusal", delta: event.text })];
      case "tool_call.started":
        return this.#rest(event); // No text follows until the call is written, which may take long.
      case "tool_call.ready":
        return [json({ ...ofCall("tool_call", event), name: event.name, arguments: event.arguments })];
      case "tool_call.rejected":
        return [json({ ...ofCall("tool_result", event), name: event.name, ok: false, error: event.error })];
      case "tool.output":
        return [json({ ...ofCall("tool_output", event), text: event.text })];
      case "tool.finished": {
        const { name, ok, output, error, ms } = event;
        return [json({ ...ofCall("tool_result", event), name, ok, output, error, ms })];
      }
      case "approval.requested": {
        const { name, arguments: input, reason, at: since, until, origin } = event;
        return [json({ ...ofCall("approval_request", event), name, arguments: input, reason, since, until, origin })];
      }
      case "approval.resolved":
        return [json({ ...ofCall("approval_result", event), approved: event.approved, reason: event.reason })];
      case "question.asked": {
        const { kind, name, message, schema, choices, url, fallback, at: since, until, origin } = event;
        const asked = { kind, name, message, schema, choices, url, fallback, since, until, origin };
        return [json({ ...ofCall("question", event), ...asked })];
      }
      case "question.answered": {
        const { answered, answer, reason } = event;
        return [json({ ...ofCall("question_result", event), answered, answer, reason })];
      }
      case "round.retracted":
        if (this.#sentences !== undefined) this.#sentences = new Sentences();
        return [json({ type: "stream_retract", run, seq, round: event.round })];
      case "round.finished":
        return this.#rest(event);
      case "run.finished": {
        const { type, at, ...ending } = event;
        return [...this.#rest(event), json({ ...ending, type: "stream_end", ...this.#id })];
      }
      case "run.failed": {
        const { type, at, ...ending } = event;
        return [...this.#rest(event), json({ ...ending, type: "stream_error", ...this.#id })];
      }
      default:
        return [];
    }
  }

  #text({ run, seq, text }: EventOf<"text.delta">): readonly string[] {
    if (this.#sentences === undefined) return [json({ type: "stream_chunk", run, seq, kind: "text", delta: text })];
    return this.#sentences.push(text).map((sentence) => spoken(run, seq, sentence));
  }

  /** End of a round: emits the pending sentence. */
  #rest({ run, seq }: RunEvent): string[] {
    return this.#sentences?.flush().map((sentence) => spoken(run, seq, sentence)) ?? [];
  }
}

const spoken = (run: string, seq: number, delta: string) =>
  json({ type: "stream_chunk", run, seq, kind: "sentence", delta });

const ofCall = (type: string, { run, seq, call }: { run: string; seq: number; call: string }) => ({
  type,
  run,
  seq,
  call,
});

const startOf = ({ agent, session, trace }: EventOf<"run.started">) => ({ agent, session, traceparent: trace });

const json = (message: Record<string, unknown>): string => JSON.stringify(message);
