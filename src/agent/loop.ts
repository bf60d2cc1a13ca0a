import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Signal } from "../core/journal/journal.ts";
import { textMessage } from "../core/model/messages.ts";
import type { Question, Verdict } from "../core/ports/tool.ts";
import type { PendingCall } from "../core/run/events.ts";
import type { GuardVerdict } from "../core/run/guard-verdict.ts";
import type { Crash } from "../core/run/signals.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { generateOverChain } from "./model/chain.ts";
import { requestFor, toolsFor } from "./model/request.ts";
import { repairRequest, structured, unfit } from "./model/structured.ts";
import { Parking } from "./parking.ts";
import { blocked } from "./run/guard-filter.ts";
import { writtenInstructions } from "./run/inputs.ts";
import type { LimitReached } from "./run/limit-reached.ts";
import { limitOnCalls, noMoreRounds, tokenLimit } from "./run/limits.ts";
import { cancelled, type RunContext } from "./run/run-context.ts";
import { listedOf } from "./run/skills.ts";
import type { RoundState } from "./state/round-state.ts";
import { type Ending, logEnd, writeEndOf, writeFinished } from "./terminal.ts";
import { Approvals } from "./tools/approvals.ts";
import { Dispatcher } from "./tools/dispatch.ts";
import { Repetition } from "./tools/repetition.ts";
import type { ToolTable } from "./tools/tool-table.ts";

/** Finish reasons that would recur on a retry: the run ends with the same reason and without an object. */
const cutEnds: ReadonlySet<string> = new Set(["length", "content_filter", "refusal"]);

/** Rounds of generating and running tools, from the run's last event to its terminal event. */
export class Loop {
  readonly #run: RunContext;
  readonly #approvals: Approvals;
  readonly #repetition: Repetition;
  /** Messages sent into the run that no round has included yet. */
  readonly #messages: { text: string; by: string | undefined; signal: number; guarded: readonly GuardVerdict[] }[] = [];
  readonly #parking: Parking;
  #dispatcher: Dispatcher | undefined;
  #released = false;
  /** Questions of hooks that are asked before the round begins: nothing is lost when the run is parked. */
  #askingFirst = 0;
  /** The last thing somebody said about whether the run should wait; not in the journal yet. */
  #wish: Wish | undefined;
  #crash: Crash | undefined;

  constructor(run: RunContext) {
    this.#run = run;
    this.#approvals = new Approvals(run);
    this.#parking = new Parking(run, () => this.#onlyAsking && !this.#approvals.answering);
    run.ask = (question, round) => this.#askForHook(question, round);
    this.#repetition = new Repetition(run.state);
    const stopTools = () => void this.#dispatcher?.cancel(run.signal.reason);
    run.signal.addEventListener("abort", stopTools, { once: true });
    keepOne(this);
  }

  receive(signal: Signal): void {
    this.#parking.seen(signal.number);
    if (this.#run.state.seenSignals.has(signal.number)) return;
    const { body } = signal;
    if (signal.kind === "crashed") return this.#heardOf(body as unknown as Crash); // see freeRunsOf
    if (signal.kind === "cancel") return this.#run.abort(cancelled(body));
    if (signal.kind === "pause" || signal.kind === "resume") {
      this.#wish = { ...wishOf(body), paused: signal.kind === "pause", signal: signal.number };
      return;
    }
    if (signal.kind === "message") {
      const by = typeof body.by === "string" ? body.by : undefined;
      const guarded = Array.isArray(body.guarded) ? (body.guarded as GuardVerdict[]) : []; // written by `RunSignals`
      this.#messages.push({ text: String(body.text ?? ""), by, signal: signal.number, guarded });
      return;
    }
    this.#approvals.resolve(String(body.call), {
      approved: body.approved === true,
      signal: signal.number,
      ...(typeof body.reason === "string" ? { reason: body.reason } : {}),
      ...(typeof body.by === "string" ? { by: body.by } : {}),
      ...(isRecord(body.arguments) ? { arguments: body.arguments } : {}),
      ...(body.answer === undefined ? {} : { answer: body.answer }),
      ...(body.for === "run" ? { for: "run" as const } : {}),
    });
  }

  /** The process of the run's last owner ended, and when: until then it was at work. */
  #heardOf(crash: Crash): void {
    if (crash.epoch === this.#run.parts.log.ownership.epoch - 1) this.#crash = crash;
  }

  /** A shutdown does not fail a run that only waits for approval: it is parked, or released if it cannot be parked. */
  interrupt(reason: VenturiError): void {
    const waits = reason.code === "shutting_down" && this.#onlyAsking;
    if (!waits || this.#run.signal.aborted) return this.#run.abort(reason);
    if (this.#run.parts.parkAfter === undefined || !this.#parking.park()) this.release(reason);
  }

  release(reason: VenturiError): void {
    this.#released = true;
    this.#run.abort(reason);
    this.#run.fence();
  }

  get #onlyAsking(): boolean {
    return this.#askingFirst > 0 || this.#dispatcher?.onlyAsking === true;
  }

  async #askForHook({ id, ...question }: Question, round: number): Promise<Verdict> {
    const isFirst = this.#run.state.round === undefined;
    if (isFirst) this.#askingFirst += 1;
    this.#run.onAsking(true);
    if (isFirst) this.#parking.onlyAsking(true);
    try {
      return await this.#approvals.question({ ...question, call: id }, round);
    } finally {
      if (isFirst) this.#askingFirst -= 1;
      this.#run.onAsking(false);
      if (isFirst) this.#parking.onlyAsking(false);
    }
  }

  async run(): Promise<void> {
    const { log } = this.#run.parts;
    let failure: VenturiError | undefined;
    try {
      await this.#begin();
      const ending = this.#run.parts.request.remember ? { finish: "stop" } : await this.#rounds();
      await this.#run.hooks.afterRun({ finish: ending.finish, output: this.#run.state.output });
      writeFinished(this.#run, ending);
    } catch (thrown) {
      const error = wrap("agent.run", this.#run.signal.aborted ? this.#run.signal.reason : thrown);
      await this.#dispatcher?.cancel(error);
      this.#parking.stop();
      if (this.#parking.parked && !this.#released) return await this.#parking.leave(this.#approvals.deadline);
      if (this.#released) return;
      failure = error;
      await writeEndOf(this.#run, error);
    }
    await log.flush();
    logEnd(this.#run, failure);
  }

  async #begin(): Promise<void> {
    const { request } = this.#run.parts;
    if (this.#run.state.started) return await this.#resume();
    let asked = request;
    let denied: unknown;
    let instructions: string | undefined;
    try {
      await this.#run.activate();
      if (!this.#run.hooks.empty) asked = await this.#run.hooks.beforeRun(request);
      instructions = await writtenInstructions(this.#run, asked.input);
    } catch (thrown) {
      denied = thrown;
    }
    this.#run.emit({
      type: "run.started",
      agent: this.#run.agent.name,
      input: asked.input,
      config: this.#run.agent.config,
      ...(instructions === undefined ? {} : { instructions }),
      ...listedOf(this.#run.agent.skills),
      ...(asked.session === undefined ? {} : { session: asked.session }),
      ...(asked.parent === undefined ? {} : { parent: asked.parent }),
      ...(request.caller === undefined ? {} : { by: request.caller.id }),
      ...(asked.metadata === undefined ? {} : { metadata: asked.metadata }),
    });
    this.#noteRevision();
    this.#tellGuarded(request.guarded);
    if (denied !== undefined) throw denied;
  }

  /** What guards decided before the input was stored. */
  #tellGuarded(verdicts: readonly GuardVerdict[] = []): void {
    for (const verdict of verdicts) this.#run.emit({ type: "guard.decided", ...verdict });
    const refused = verdicts.find(({ action }) => action === "block");
    if (refused === undefined) return;
    const { guard, direction, rule, count = 1 } = refused;
    throw blocked(guard, direction, `${count} ${rule}`);
  }

  async #resume(): Promise<void> {
    const { history, clock, logger } = this.#run.parts;
    const { run, epoch, worker } = this.#run.parts.log.ownership;
    const idleMs = Math.max(0, clock.now() - (history.at(-1)?.at ?? clock.now()));
    logger.info("run resumed", { run, agent: this.#run.agent.name, epoch, worker, events: history.length, idleMs });
    const { at, cause = "was ended by another run" } = this.#crash ?? {};
    if (at !== undefined) {
      const ms = Math.max(0, clock.now() - at);
      this.#run.waits.past("down", cause, { since: clock.monotonic() - ms, ms });
    }
    this.#run.emit({ type: "run.resumed", epoch });
    this.#noteRevision();
    await this.#run.activate();
  }

  #noteRevision(): void {
    const { agent, request } = this.#run.parts;
    const before = this.#run.state.revision ?? request.revision;
    if (before === undefined || before === agent.revision) return;
    this.#run.emit({ type: "agent.revised", agent: agent.name, revision: agent.revision });
  }

  /**
   * Rounds until the run ends: generate, run the tools, close the round, decide what follows. A resumed run continues at the step
   * where its events stop.
   */
  async #rounds(): Promise<Ending> {
    for (let closed = this.#run.state.settled; ; closed = undefined) {
      this.#run.throwIfAborted();
      if (closed === undefined && this.#run.state.round === undefined) await this.#pauseIfAsked();
      const tools = toolsFor(this.#run);
      const round = closed ?? (await this.#generated(tools));
      if (closed === undefined) {
        await this.#runTools(round, tools);
        await this.#closeRound(round);
      }
      const ending = this.#decide(round, tools);
      if (ending) return ending;
      if (this.#run.state.active?.agent !== undefined) await this.#run.activate();
    }
  }

  /** Between two rounds nothing is lost: a paused run is parked, and whoever wakes it finds here whether it may go on. */
  async #pauseIfAsked(): Promise<void> {
    const { state } = this.#run;
    const wish = this.#wish;
    this.#wish = undefined;
    if (wish !== undefined && (wish.paused || state.paused)) {
      const { paused, reason, ...said } = wish;
      if (!paused) await this.#run.step({ type: "run.continued", ...said });
      else if (!state.paused)
        await this.#run.step({ type: "run.paused", ...said, ...(reason === undefined ? {} : { reason }) });
    }
    if (!state.paused) return;
    this.#parking.parkPaused();
    this.#run.throwIfAborted();
  }

  /** The round with its finished generation: a new one, or the one whose calls a crash left unfinished. */
  async #generated(tools: ToolTable): Promise<RoundState> {
    if (this.#run.state.round?.generated === undefined) await this.#generate(tools);
    else this.#resumeTools(tools);
    const { round } = this.#run.state;
    if (round?.generated !== undefined) return round;
    throw new VenturiError("agent.run", "internal", "the round has no finished generation");
  }

  async #generate(tools: ToolTable): Promise<void> {
    const { state } = this.#run;
    // A generation interrupted by a crash starts over; its output is retracted.
    if (state.round) this.#withdraw("interrupted");
    this.#addMessages();
    const round = state.roundsFinished + 1;
    const executes = state.toolRounds < this.#run.agent.limits.maxToolRounds;
    await generateOverChain(this.#run, {
      round,
      tools,
      requestFor: (target) => requestFor(this.#run, target, tools),
      begin: () => {
        this.#dispatcher = this.#newDispatcher(round, tools, executes);
        return this.#dispatcher;
      },
      retract: async (reason) => {
        await this.#dispatcher?.cancel(
          new VenturiError("tool.call", "stream_interrupted", "the generation was retracted"),
        );
        this.#withdraw(reason);
      },
    });
    if (!this.#run.hooks.empty) await this.#afterGeneration();
  }

  /** After a crash: the generation is kept, its unfinished calls are resumed. */
  #resumeTools(tools: ToolTable): void {
    const round = this.#run.state.round;
    if (round === undefined) return;
    const executes = this.#run.state.toolRounds < this.#run.agent.limits.maxToolRounds;
    this.#dispatcher = this.#newDispatcher(round.number, tools, executes);
    for (const call of round.pending) this.#dispatcher.sealed(call);
  }

  /** Executes the round's calls, or none where a limit forbids it; `#decide` then ends the run. */
  async #runTools(round: RoundState, tools: ToolTable): Promise<void> {
    const limit = this.#limitOnTools(round, tools, this.#run.state.toolRounds);
    if (limit) {
      await this.#dispatcher?.cancel(limit);
      return;
    }
    this.#abortOnRejection(round, tools);
    this.#dispatcher?.release();
    await this.#dispatcher?.settled();
    this.#run.throwIfAborted();
  }

  async #closeRound({ number, generated }: RoundState): Promise<void> {
    const { finish = "other", usage = {} } = generated ?? {};
    await this.#run.step({ type: "round.finished", round: number, finish, usage });
    this.#run.throwIfAborted();
  }

  /** What follows a finished round: the run's ending, or undefined for another round. Throws when a limit ends the run. */
  #decide(round: RoundState, tools: ToolTable): Ending | undefined {
    const finish = round.generated?.finish ?? "other";
    const limit = this.#limitOnTools(round, tools, this.#run.state.toolRounds - 1);
    if (limit) throw limit;
    const calls = clientCalls(round, tools);
    if (calls.length > 0) return { finish: cutEnds.has(finish) ? finish : "tool_calls", calls };
    const last = this.#limitOnRounds(round, finish);
    if (last) throw last;
    const goesOn = round.calls.size > 0 || this.#messages.length > 0 || finish === "pause";
    return goesOn ? undefined : this.#answer(finish, round.text);
  }

  /** The limit on executing the round's calls after `rounds` earlier rounds. Calls of client tools do not count. */
  #limitOnTools(round: RoundState, tools: ToolTable, rounds: number): LimitReached | undefined {
    const own = round.inOrder.filter((call) => !tools.isClient(call.name));
    return own.length > 0 ? limitOnCalls(this.#run, own, rounds) : undefined;
  }

  /** The limit on another generation after this round. */
  #limitOnRounds(round: RoundState, finish: string): LimitReached | undefined {
    const { state, agent } = this.#run;
    // Calls left unexecuted before a restart, under limits that have been raised since.
    if (round.pending.length > 0) return noMoreRounds(agent.limits);
    // A vendor's pause counts as a tool round, or a model that always pauses would never end.
    if (finish === "pause" && state.toolRounds > agent.limits.maxToolRounds) return noMoreRounds(agent.limits);
    return this.#repetition.limitOn(round) ?? tokenLimit(this.#run);
  }

  /** The ending with this text as the answer; undefined when the model must retry to fit the schema. */
  #answer(finish: string, text: string): Ending | undefined {
    const asked = this.#run.parts.request.output;
    const schema = asked === undefined ? this.#run.agent.output : asked.schema;
    if (schema === undefined) return { finish };
    const answer = structured(text, schema, asked === undefined ? this.#run.agent.outputSchema : undefined);
    if (answer.ok) return { finish, object: answer.object };
    // A client that sent a schema has already streamed the answer and parses it as with the vendor's own API.
    if (asked !== undefined || cutEnds.has(finish)) return { finish };
    if (this.#run.state.repaired) throw unfit(answer.problem);
    this.#run.emit({ type: "message.added", message: textMessage("user", repairRequest(answer.problem)) });
    return undefined;
  }

  #abortOnRejection(round: RoundState, tools: ToolTable): void {
    if (this.#run.agent.toolPolicy.onError !== "abort") return;
    for (const { rejected, name } of round.inOrder) {
      if (rejected && !tools.isClient(name)) throw new VenturiError("tool.call", rejected.code, rejected.err);
    }
  }

  #addMessages(): void {
    for (const { text, by, signal, guarded } of this.#messages.splice(0)) {
      const sent = { message: textMessage("user", text), ...(by === undefined ? {} : { by }) };
      this.#run.emit({ type: "message.added", ...sent, signal });
      for (const verdict of guarded) this.#run.emit({ type: "guard.decided", ...verdict });
    }
  }

  #withdraw(reason: string): void {
    const { round } = this.#run.state;
    if (!round?.shown) return;
    this.#run.emit({ type: "round.retracted", round: round.number, attempt: round.attempt, reason });
  }

  #newDispatcher(round: number, tools: ToolTable, executes: boolean): Dispatcher {
    const [approvals, repetition] = [this.#approvals, this.#repetition];
    const onlyAsking = (only: boolean) => this.#parking.onlyAsking(only);
    return new Dispatcher({ run: this.#run, round, tools, approvals, repetition, executes, onlyAsking });
  }

  async #afterGeneration(): Promise<void> {
    const round = this.#run.state.round;
    if (round?.generated === undefined) return;
    const { finish, raw, usage } = round.generated;
    const generation = { parts: round.parts, finish: finish as never, usage, ...(raw === undefined ? {} : { raw }) };
    await this.#run.hooks.afterGeneration(generation, round.number);
  }
}

interface Wish {
  readonly paused: boolean;
  readonly signal: number;
  readonly by?: string;
  readonly reason?: string;
}

const wishOf = ({ by, reason }: Signal["body"]): Pick<Wish, "by" | "reason"> => ({
  ...(typeof by === "string" ? { by } : {}),
  ...(typeof reason === "string" ? { reason } : {}),
});

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const clientCalls = (round: RoundState, tools: ToolTable): PendingCall[] =>
  round.inOrder
    .filter((call) => tools.isClient(call.name))
    .map(({ call, name, arguments: input, raw, text }) => ({
      call,
      name,
      arguments: { ...input },
      ...(raw === undefined ? {} : { raw }),
      ...(text === undefined ? {} : { text }),
    }));
