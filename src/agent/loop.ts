import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Signal } from "../core/journal/journal.ts";
import { textMessage } from "../core/model/messages.ts";
import type { Question, Verdict } from "../core/ports/tool.ts";
import type { GuardVerdict } from "../core/run/guard-verdict.ts";
import type { Crash } from "../core/run/signals.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { decide, limitOnTools } from "./after-round.ts";
import { begin } from "./begin.ts";
import { generateOverChain } from "./model/chain.ts";
import { requestFor, toolsFor } from "./model/request.ts";
import { Parking } from "./parking.ts";
import { cancelled, type RunContext } from "./run/run-context.ts";
import type { RoundState } from "./state/round-state.ts";
import { type Ending, logEnd, writeEndOf, writeFinished } from "./terminal.ts";
import { Approvals } from "./tools/approvals.ts";
import { Dispatcher } from "./tools/dispatch.ts";
import { Repetition } from "./tools/repetition.ts";
import type { ToolTable } from "./tools/tool-table.ts";

/** Rounds of generating and running tools, from the run's last event to its terminal event. */
export class Loop {
  readonly #run: RunContext;
  readonly #approvals: Approvals;
  readonly #repetition: Repetition;
  /** Messages sent into the run that no round has included yet, and the number of their signal. */
  readonly #messages: { text: string; by: string | undefined; number: number; guarded: readonly GuardVerdict[] }[] = [];
  readonly #parking: Parking;
  #dispatcher: Dispatcher | undefined;
  #released = false;
  /** Open questions that hooks asked before the round began. Such a run can be parked: no work of the round would be lost. */
  #askingFirst = 0;
  /** The last pause or resume request received; not in the journal yet. */
  #pauseRequest: PauseRequest | undefined;
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

  receive({ number, kind, body }: Signal): void {
    this.#parking.seen(number);
    if (this.#run.state.seenSignals.has(number)) return;
    if (kind === "crashed") return this.#noteCrash(body as unknown as Crash); // The journal's `freeRunsOf` writes this body.
    if (kind === "cancel") return this.#run.abort(cancelled(body));
    if (kind === "pause" || kind === "resume") {
      this.#pauseRequest = { ...requesterIn(body), paused: kind === "pause", signal: number };
      return;
    }
    if (kind === "message") {
      const by = typeof body.by === "string" ? body.by : undefined;
      const guarded = Array.isArray(body.guarded) ? (body.guarded as GuardVerdict[]) : []; // Written by `SignalSender`.
      this.#messages.push({ text: String(body.text ?? ""), by, number, guarded });
      return;
    }
    this.#approvals.resolve(String(body.call), {
      approved: body.approved === true,
      signal: number,
      ...(typeof body.reason === "string" ? { reason: body.reason } : {}),
      ...(typeof body.by === "string" ? { by: body.by } : {}),
      ...(isRecord(body.arguments) ? { arguments: body.arguments } : {}),
      ...(body.answer === undefined ? {} : { answer: body.answer }),
      ...(body.for === "run" ? { for: "run" as const } : {}),
    });
  }

  /** Reports how the process of the run's previous owner ended, and until when it was working. */
  #noteCrash(crash: Crash): void {
    if (crash.epoch === this.#run.deps.runLog.ownership.epoch - 1) this.#crash = crash;
  }

  /** A shutdown does not fail a run that only waits for approval: it is parked, or released if it cannot be parked. */
  interrupt(reason: VenturiError): void {
    const waits = reason.code === "shutting_down" && this.#onlyAsking;
    if (!waits || this.#run.signal.aborted) return this.#run.abort(reason);
    if (this.#run.deps.parkAfter === undefined || !this.#parking.park()) this.release(reason);
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
    const { runLog } = this.#run.deps;
    let failure: VenturiError | undefined;
    try {
      await begin(this.#run, this.#crash);
      const ending = this.#run.deps.request.remember ? { finish: "stop" } : await this.#rounds();
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
    await runLog.flush();
    logEnd(this.#run, failure);
  }

  /**
   * Rounds until the run ends: generate, run the tools, close the round, decide what follows. A resumed run continues at the step
   * where its events stop.
   */
  async #rounds(): Promise<Ending> {
    for (let closed = this.#run.state.closedRound; ; closed = undefined) {
      this.#run.throwIfAborted();
      if (closed === undefined && this.#run.state.round === undefined) await this.#pauseIfAsked();
      const tools = toolsFor(this.#run);
      let round = closed ?? this.#resumed(tools);
      if (round === undefined) {
        round = await this.#generate(tools);
        if (!this.#run.hooks.empty) await this.#afterGeneration(round);
      }
      if (closed === undefined) {
        await this.#runTools(round, tools);
        await this.#closeRound(round);
      }
      const hasMessages = this.#messages.length > 0;
      const ending = decide(this.#run, { round, tools, repetition: this.#repetition, hasMessages });
      if (ending) return ending;
      if (this.#run.state.active?.agent !== undefined) await this.#run.activate();
    }
  }

  /** Pauses between rounds, where no work is lost. A paused run is parked; its next owner checks here whether it may continue. */
  async #pauseIfAsked(): Promise<void> {
    const { state, deps } = this.#run;
    // A request that arrives while a step is being stored counts as seen, so handle it here: parked without it, the run would never be
    // woken.
    if ((deps.agentPause?.() !== undefined) !== state.agentPaused) await this.#pauseWithAgent();
    for (let request = this.#pauseRequest; request !== undefined; request = this.#pauseRequest) {
      this.#pauseRequest = undefined;
      const { paused, reason, ...said } = request;
      if (paused === state.paused) continue;
      if (!paused) await this.#run.step({ type: "run.continued", ...said });
      else await this.#run.step({ type: "run.paused", ...said, ...(reason === undefined ? {} : { reason }) });
    }
    // A cancel that arrived meanwhile counts as seen too.
    this.#run.throwIfAborted();
    if (state.paused) this.#parking.parkPaused();
    // Released instead of parked: no worker claims a run of a paused agent, so resuming the agent need not list its runs.
    else if (state.agentPaused) this.release(new VenturiError("agent.run", "unavailable", "the agent is paused"));
    this.#run.throwIfAborted();
  }

  async #pauseWithAgent(): Promise<void> {
    const { state, deps } = this.#run;
    const pause = deps.agentPause?.();
    if ((pause !== undefined) === state.agentPaused) return;
    const { agent } = deps.request;
    if (pause === undefined) await this.#run.step({ type: "run.continued", agent });
    else {
      const { by, reason } = pause;
      const said = { ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) };
      await this.#run.step({ type: "run.paused", agent, ...said });
    }
  }

  /** A new round with its finished generation. */
  #generate(tools: ToolTable): Promise<RoundState> {
    this.#addMessages();
    const round = this.#run.state.roundsFinished + 1;
    return generateOverChain(this.#run, {
      round,
      tools,
      requestFor: (target) => requestFor(this.#run, target, tools),
      begin: () => {
        this.#dispatcher = this.#newDispatcher(round, tools);
        return this.#dispatcher;
      },
      retract: async (reason) => {
        await this.#dispatcher?.cancel(
          new VenturiError("tool.call", "stream_interrupted", "the generation was retracted"),
        );
        this.#retract(reason);
      },
    });
  }

  /** After a crash: a finished generation is kept, its unfinished calls are resumed. An interrupted one is retracted and starts over. */
  #resumed(tools: ToolTable): RoundState | undefined {
    const { round } = this.#run.state;
    if (round === undefined) return undefined;
    if (round.generated === undefined) {
      this.#retract("interrupted");
      return undefined;
    }
    this.#dispatcher = this.#newDispatcher(round.number, tools);
    for (const call of round.pending) this.#dispatcher.sealed(call);
    return round;
  }

  /** Executes the round's calls, or none if a limit forbids it; `decide` then ends the run. */
  async #runTools(round: RoundState, tools: ToolTable): Promise<void> {
    const limit = limitOnTools(this.#run, { round, tools }, this.#run.state.toolRounds);
    if (limit) {
      await this.#dispatcher?.cancel(limit);
      return;
    }
    this.#abortOnRejection(round, tools);
    this.#dispatcher?.generationSucceeded();
    await this.#dispatcher?.settled();
    this.#run.throwIfAborted();
  }

  async #closeRound({ number, generated }: RoundState): Promise<void> {
    const { finish = "other", usage = {} } = generated ?? {};
    await this.#run.step({ type: "round.finished", round: number, finish, usage });
    this.#run.throwIfAborted();
  }

  #abortOnRejection(round: RoundState, tools: ToolTable): void {
    if (this.#run.agent.toolPolicy.onError !== "abort") return;
    for (const { rejected, name } of round.inOrder) {
      if (rejected && !tools.isClient(name)) throw new VenturiError("tool.call", rejected.code, rejected.err);
    }
  }

  #addMessages(): void {
    for (const { text, by, number, guarded } of this.#messages.splice(0)) {
      const sent = { message: textMessage("user", text), ...(by === undefined ? {} : { by }) };
      this.#run.emit({ type: "message.added", ...sent, signal: number });
      for (const verdict of guarded) this.#run.emit({ type: "guard.decided", ...verdict });
    }
  }

  #retract(reason: string): void {
    const { round } = this.#run.state;
    if (!round?.shown) return;
    this.#run.emit({ type: "round.retracted", round: round.number, attempt: round.attempt, reason });
  }

  #newDispatcher(round: number, tools: ToolTable): Dispatcher {
    const executes = this.#run.state.toolRounds < this.#run.agent.limits.maxToolRounds;
    const [approvals, repetition] = [this.#approvals, this.#repetition];
    const onlyAsking = (only: boolean) => this.#parking.onlyAsking(only);
    return new Dispatcher({ run: this.#run, round, tools, approvals, repetition, executes, onlyAsking });
  }

  async #afterGeneration({ number, parts, generated }: RoundState): Promise<void> {
    if (generated === undefined) return;
    const { finish, raw, usage } = generated;
    const generation = { parts, finish: finish as never, usage, ...(raw === undefined ? {} : { raw }) };
    await this.#run.hooks.afterGeneration(generation, number);
  }
}

interface PauseRequest {
  readonly paused: boolean;
  readonly signal: number;
  readonly by?: string;
  readonly reason?: string;
}

const requesterIn = ({ by, reason }: Signal["body"]): Pick<PauseRequest, "by" | "reason"> => ({
  ...(typeof by === "string" ? { by } : {}),
  ...(typeof reason === "string" ? { reason } : {}),
});

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
