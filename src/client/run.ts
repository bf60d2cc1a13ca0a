import { ClientError } from "./client-error.ts";
import type { EventOf, RunEvent } from "./events.ts";
import type { LiveSocket } from "./live-socket.ts";
import { type Call, type Settings, sendJson } from "./requests.ts";
import { type Connect, type FollowOptions, isTerminal, resume } from "./resume.ts";
import { readStream } from "./sse.ts";
import type { EventPage, Feedback, ForkRequest, GivenFeedback, RunView } from "./venturi.api.d.ts";
import type { EventsQuery } from "./views.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** A run of the service. Holds only the id, so creating one sends no request. */
export class Run {
  readonly id: string;
  readonly #settings: Settings;
  readonly #socket: LiveSocket | undefined;

  constructor(id: string, settings: Settings, socket?: LiveSocket) {
    this.id = id;
    this.#settings = settings;
    this.#socket = socket;
  }

  /** The run's state, and how it ended. */
  get({ signal }: CallOptions = {}): Promise<RunView> {
    return sendJson(this.#settings, this.#call("run.get", { signal }));
  }

  /** Every event after `after`, exactly once, whatever happens to the connection; ends with the run. */
  async *events(options: FollowOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    for await (const batch of this.batches(options)) {
      for (const event of batch) {
        options.signal?.throwIfAborted();
        yield event;
      }
    }
  }

  /** The same in batches as they arrive, for a page that renders once per batch. */
  batches(options: FollowOptions = {}): AsyncGenerator<readonly RunEvent[], void, undefined> {
    const { signal } = options;
    const isOver = async (seq: number): Promise<boolean> => {
      const { timing, head = 0 } = await this.get(signal === undefined ? {} : { signal });
      return timing !== undefined && head <= seq; // Only an ended run has it.
    };
    const stream: Connect<RunEvent> = (after, opened) => {
      const headers = { "last-event-id": String(after) };
      return readStream(this.#settings, this.#call("run.follow", { path: "/events", headers, signal }), opened);
    };
    const socket = this.#socket;
    if (socket === undefined) return resume(stream, isOver, { ...this.#retry, ...options });
    const run = this.id;
    const live: Connect<RunEvent> = async function* (after, opened) {
      // A socket does not tell why it was refused, nor that a run had already ended. Check where that is possible.
      if ((after > 0 || !socket.isOpen) && (await isOver(after))) return;
      // The service sends a run once per socket, so a second reader gets its own stream.
      const open = { type: "subscribe", run, after, as: "events" };
      const close = { type: "unsubscribe", run };
      yield* socket.has(run) ? stream(after, opened) : socket.read({ name: run, open, close, signal, opened });
    };
    return resume(live, isOver, { ...this.#retry, ...options });
  }

  /** One page of committed events, without waiting; `next` is the `after` of the next page. */
  page({ signal, after, limit, steps }: EventsQuery = {}): Promise<EventPage> {
    const query = { after, limit, steps: steps === true ? 1 : undefined };
    const headers = { accept: "application/json" };
    return sendJson(this.#settings, this.#call("run.events", { path: "/events", query, headers, signal }));
  }

  /** Waits for the end. Rejects with a failed run's error. */
  async result(options: FollowOptions = {}): Promise<EventOf<"run.finished">> {
    for await (const batch of this.batches(options)) {
      const last = batch.at(-1);
      if (!isTerminal(last)) continue;
      if (last.type === "run.finished") return last;
      throw new ClientError(last.error);
    }
    throw new ClientError({
      op: "run.follow",
      code: "not_found",
      err: "the run had ended before the event given as `after`",
    });
  }

  /**
   * Approves a tool call, optionally with changed arguments; `for: "run"` also allows its later calls. With the question's `since`, one
   * that was asked again after a crash is not approved by an answer to the first.
   */
  approve(
    call: string,
    answer: {
      arguments?: Readonly<Record<string, unknown>>;
      reason?: string;
      for?: "run";
      since?: number;
    } & CallOptions = {},
  ): Promise<void> {
    return this.#tell("run.approve", `/approvals/${encodeURIComponent(call)}`, { approved: true, ...answer });
  }

  deny(call: string, answer: { reason?: string; since?: number } & CallOptions = {}): Promise<void> {
    return this.#tell("run.deny", `/approvals/${encodeURIComponent(call)}`, { approved: false, ...answer });
  }

  /** Answers a tool's question; the answer must fit its schema and choices. */
  answer(call: string, answer: unknown, options: CallOptions = {}): Promise<void> {
    return this.#tell("run.answer", `/questions/${encodeURIComponent(call)}`, { answer, ...options });
  }

  decline(call: string, options: { reason?: string } & CallOptions = {}): Promise<void> {
    return this.#tell("run.decline", `/questions/${encodeURIComponent(call)}`, { decline: true, ...options });
  }

  /** Sends a message into the run; its next round includes it. */
  steer(text: string, options: CallOptions = {}): Promise<void> {
    return this.#tell("run.steer", "/messages", { text, ...options });
  }

  /** The run finishes its round and waits until `resume`, across restarts. */
  pause(options: { reason?: string } & CallOptions = {}): Promise<void> {
    return this.#tell("run.pause", "/pause", options);
  }

  resume(options: CallOptions = {}): Promise<void> {
    return this.#tell("run.resume", "/resume", options);
  }

  /** Resolves when the terminal event is written. */
  cancel({ reason, signal }: { reason?: string } & CallOptions = {}): Promise<RunView> {
    return this.#post("run.cancel", "/cancel", { body: { reason }, signal, repeatable: true });
  }

  /** Starts a run that copies this one's events up to a step, with edits, and continues from there. */
  async fork({ signal, ...request }: ForkRequest & CallOptions): Promise<Run> {
    const { run } = await this.#post<{ run: string }>("run.fork", "/fork", { body: request, signal });
    return new Run(run, this.#settings, this.#socket);
  }

  /** Stores feedback about the run. A second one by the same person about the same event replaces the first. */
  giveFeedback({ signal, ...body }: GivenFeedback & CallOptions): Promise<Feedback> {
    return this.#post("run.feedback", "/feedback", { body, signal, repeatable: true });
  }

  /** Oldest first. */
  async feedback({ signal }: CallOptions = {}): Promise<Feedback[]> {
    const call = this.#call("run.feedback", { path: "/feedback", signal });
    return (await sendJson<{ feedback: Feedback[] }>(this.#settings, call)).feedback;
  }

  /** Erases the ended run and everything stored for it. */
  async remove({ signal }: CallOptions = {}): Promise<void> {
    await sendJson(this.#settings, this.#call("run.remove", { method: "DELETE", signal }));
  }

  async #tell<Body extends CallOptions>(op: string, path: string, { signal, ...body }: Body): Promise<void> {
    await this.#post(op, path, { body, signal });
  }

  #post<Answer>(op: string, path: string, call: Partial<Call>): Promise<Answer> {
    return sendJson(this.#settings, this.#call(op, { ...call, method: "POST", path }));
  }

  #call(op: string, call: Partial<Call>): Call {
    return { ...call, op, path: `/v1/runs/${encodeURIComponent(this.id)}${call.path ?? ""}` };
  }

  get #retry() {
    return { retry: this.#settings.retry };
  }
}
