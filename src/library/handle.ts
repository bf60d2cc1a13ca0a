import { parse } from "../agent/schema/standard.ts";
import { fromJson, VenturiError } from "../core/errors/errors.ts";
import type { Runs } from "../core/ports/runs.ts";
import type { RunEvent, TerminalEvent } from "../core/run/events.ts";
import type { PendingQuestion } from "../core/run/questions.ts";
import type { RunRow } from "../core/run/run-row.ts";
import type { Schema } from "../core/values/schema.ts";
import type { CallOf, Calls } from "./hooks.ts";
import { batches, draftsOf, textOf } from "./reading.ts";
import { runResponse, type Served } from "./response.ts";
import type { Answer, ForkOptions, Outcome, ResponseOptions, Result } from "./run.ts";

export interface HandleDeps {
  readonly runs: Runs;
  readonly served: Served;
  /** The agent's output schema in the current code. */
  outputOf(agent: string): Schema | undefined;
  /** Whether the agent may hand over its runs. */
  handsOver(agent: string): boolean;
}

/** A handle holds no stream and no promise: each read is a new follower, and a failure that nobody reads is not an unhandledRejection. */
export class RunHandle {
  readonly id: string;
  readonly agent: string;
  readonly session: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly #deps: HandleDeps;

  constructor(
    { run, agent, session, request }: Pick<RunRow, "run" | "agent" | "session" | "request">,
    deps: HandleDeps,
  ) {
    this.id = run;
    this.agent = agent;
    this.session = session;
    this.metadata = request.metadata ?? {};
    this.#deps = deps;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.events()[Symbol.asyncIterator]();
  }

  async *events(
    options: { readonly after?: number; readonly signal?: AbortSignal; readonly types?: readonly string[] } = {},
  ): AsyncGenerator<RunEvent> {
    const { types, ...asked } = options;
    const wanted = types === undefined ? undefined : new Set(types);
    let agent = this.agent;
    for await (const batch of batches(this.#deps.runs, this.id, asked)) {
      for (const event of batch) {
        if (event.type === "agent.changed") agent = event.agent;
        if (wanted?.has(event.type) !== false) yield this.#typed(event, agent);
      }
    }
  }

  text(options: { readonly signal?: AbortSignal } = {}): AsyncIterable<string> {
    return textOf(batches(this.#deps.runs, this.id, options));
  }

  objects(options: { readonly signal?: AbortSignal } = {}): AsyncIterable<unknown> {
    return draftsOf(batches(this.#deps.runs, this.id, options));
  }

  async outcome(): Promise<Outcome<unknown>> {
    const { last, agent } = await this.#end();
    const run = this.id;
    if (last.type === "run.failed") return { ok: false, run, error: fromJson(last.error), text: last.output };
    const object = this.#parsed(last.object, agent);
    if (object instanceof VenturiError) return { ok: false, run, error: object, text: last.output };
    const { type: _, seq: __, at: ___, output: text, spent: ____, inherited: _____, ...result } = last;
    return { ok: true, ...result, run, text, object };
  }

  async result(): Promise<Result<unknown>> {
    const outcome = await this.outcome();
    if (!outcome.ok) throw outcome.error;
    const { ok: _, ...result } = outcome;
    return result;
  }

  async pending(): Promise<readonly (CallOf<Calls> & { readonly reason?: string })[]> {
    const approvals = (await this.questions()).filter(({ kind }) => kind === "approve");
    return approvals.map(({ call, name, arguments: input, reason }) => ({
      call,
      name,
      arguments: input,
      ...(reason === undefined ? {} : { reason }),
    }));
  }

  approve(
    call: string,
    options: Answer & { readonly arguments?: Readonly<Record<string, unknown>>; readonly for?: "run" } = {},
  ): Promise<boolean> {
    return this.#answer(call, { approved: true, ...options });
  }

  deny(call: string, options: Answer = {}): Promise<boolean> {
    return this.#answer(call, { approved: false, ...options });
  }

  questions(): Promise<readonly PendingQuestion[]> {
    return this.#deps.runs.pending(this.id);
  }

  answer(call: string, answer: unknown, options: Answer = {}): Promise<boolean> {
    return this.#answer(call, { approved: true, answer, ...options });
  }

  decline(call: string, options: Answer = {}): Promise<boolean> {
    return this.#answer(call, { approved: false, ...options });
  }

  steer(text: string): Promise<boolean> {
    return this.#deps.runs.signal(this.id, "message", { text });
  }

  pause(reason?: string): Promise<boolean> {
    return this.#deps.runs.signal(this.id, "pause", reason === undefined ? {} : { reason });
  }

  resume(): Promise<boolean> {
    return this.#deps.runs.signal(this.id, "resume", {});
  }

  cancel(reason = "the program cancelled the run"): Promise<void> {
    return this.#deps.runs.cancel(this.id, reason);
  }

  async fork(options: ForkOptions = {}): Promise<RunHandle> {
    const { runs } = this.#deps;
    const { after, afterRound, ...rest } = options;
    const { run } = await runs.fork(this.id, { ...rest, after: after ?? (await this.#endOf(afterRound)) });
    return new RunHandle(await runs.get(run), this.#deps);
  }

  response(options: ResponseOptions = {}): Response {
    return runResponse({ run: this.id, agent: this.agent, session: this.session }, options, this.#deps.served);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel("the program left the run");
  }

  #answer(
    call: string,
    answer: Answer & {
      readonly approved: boolean;
      readonly answer?: unknown;
      readonly arguments?: Readonly<Record<string, unknown>>;
      readonly for?: "run";
    },
  ): Promise<boolean> {
    const { approved, reason, by = "library", arguments: changed, for: scope, answer: given } = answer;
    const body = {
      call,
      approved,
      by,
      ...(reason === undefined ? {} : { reason }),
      ...(changed === undefined ? {} : { arguments: { ...changed } }),
      ...(scope === undefined ? {} : { for: scope }),
      ...(given === undefined ? {} : { answer: given }),
    };
    return this.#deps.runs.signal(this.id, "approve", body, `approve:${call}`);
  }

  /** Seq of the event that ended a round; by default the last finished one. */
  async #endOf(round: number | undefined): Promise<number> {
    const { head } = await this.#deps.runs.get(this.id);
    let end: number | undefined;
    for await (const event of this.events()) {
      if (event.type === "round.finished" && (round === undefined || event.round === round)) end = event.seq;
      if (event.seq >= head) break;
    }
    if (end !== undefined) return end;
    const what = round === undefined ? "no finished round" : `no finished round ${round}`;
    throw new VenturiError("run.fork", "invalid_input", `the run ${this.id} has ${what} to fork from`);
  }

  /** The terminal event, and the agent the run had then. */
  async #end(): Promise<{ last: TerminalEvent; agent: string }> {
    const { runs, handsOver } = this.#deps;
    const { state, head } = await runs.get(this.id);
    // Only a run that may have been handed over is read from the start.
    const after = handsOver(this.agent) ? 0 : Math.max(0, head - (state === "done" ? 1 : 0));
    let { agent } = this;
    const source = batches(runs, this.id, { after });
    for (;;) {
      const step = await source.next();
      if (step.done) return { last: step.value, agent };
      for (const event of step.value) if (event.type === "agent.changed") agent = event.agent;
    }
  }

  #typed(event: RunEvent, agent: string): RunEvent {
    if (event.type !== "run.finished" || event.object === undefined) return event;
    const object = this.#parsed(event.object, agent);
    return object instanceof VenturiError ? event : { ...event, object };
  }

  /** The object after the agent schema's defaults and transforms; throws if a run of other code does not fit it. */
  #parsed(object: unknown, agent: string): unknown {
    const schema = object === undefined ? undefined : this.#deps.outputOf(agent);
    if (schema === undefined) return object;
    const parsed = parse(schema, object, "the object");
    if (parsed.ok) return parsed.value;
    const message = `the object of ${this.id} does not fit the output schema of ${agent} here: ${parsed.problems.join("; ")}`;
    return new VenturiError("run.result", "conflict", message);
  }
}
