import type { Message } from "../../core/model/messages.ts";
import type { Usage } from "../../core/model/usage.ts";
import type { Verdict } from "../../core/ports/tool.ts";
import type { EventOf, RunEvent, TerminalEvent } from "../../core/run/events.ts";
import type { ListedSkill } from "../../core/run/listed-skill.ts";
import type { AskedEvent } from "../../core/run/questions.ts";
import { Spending } from "../../core/run/spending.ts";
import { flatten } from "../../core/values/flat-text.ts";
import { emptyMap, emptySet, withEntry, withMember } from "../../core/values/no-entries.ts";
import type { CallIdentity } from "./call-key.ts";
import { resultOf, type WholeOutput } from "./call-result.ts";
import { type Fold, foldOf } from "./folded.ts";
import { inputMessages } from "./input-messages.ts";
import { type CallState, RoundState } from "./round-state.ts";

interface Handover {
  readonly agent: string;
  readonly instructions?: string;
  readonly skills?: readonly ListedSkill[];
}

/** A question asked by a running tool. */
interface ToolQuestion {
  readonly since: number;
  readonly until: number | undefined;
  readonly verdict: Verdict | undefined;
}

type Answered = Pick<EventOf<"approval.resolved">, "call" | "at"> & Omit<Verdict, "for">;

/** A run's state, derived only from its events: the loop continues the same way whether it wrote them or read them after a crash. */
export class RunState {
  /** Completed conversation of this run: input, finished rounds, added messages. */
  messages: Message[] = [];
  started: EventOf<"run.started"> | undefined;
  terminal: TerminalEvent | undefined;
  round: RoundState | undefined;
  /** Highest attempt number used in the current round. */
  attempt = 0;
  roundNumber = 0;
  roundsFinished = 0;
  /** The last model used, as `provider/model`. */
  model: string | undefined;
  /** The agent that the run was handed to in a finished round, with its instructions. */
  active: Handover | undefined;
  /** The agent that a call of the current round hands the run to. */
  handedTo: (Handover & { readonly call: string }) | undefined;
  revision: string | undefined;
  readonly spending = new Spending();
  toolCalls = 0;
  /** Finished rounds with tool calls, including a vendor's own (a pause). */
  toolRounds = 0;
  /** Number of oldest messages dropped by compaction. */
  compacted = 0;
  /** The summary that replaces the beginning of the conversation. */
  fold: Fold | undefined;
  /** Notes found before the first round; undefined before the search. */
  recalled: EventOf<"memory.recalled">["notes"] | undefined;
  /** Calls whose results are sent as references. */
  foldedResults = emptySet<string>();
  /** The model was asked once to repeat an answer that did not fit the schema. */
  repaired = false;
  /** Numbers of the signals already reflected by an event. */
  seenSignals = emptySet<number>();
  /** Tools whose `approval: once` question was answered with yes. */
  approvedOnce = emptySet<string>();
  /** Tools that a person allowed for the rest of the run, whatever their approval setting. */
  allowedForRun = emptySet<string>();
  /** Questions of running tools by call, and their answers. */
  questions = emptyMap<string, ToolQuestion>();
  /** Every call id ever used, including those of retracted attempts. */
  callIds = emptySet<string>();
  /** Complete outputs of truncated results, or their hashes. */
  cutResults = emptyMap<string, WholeOutput>();
  /** The run was told to pause between rounds. `agentPaused`: all runs of its agent were. */
  paused = false;
  agentPaused = false;
  /** Deferred tools found by the model, in order. */
  foundTools = emptySet<string>();
  /** Calls of finished rounds, newest last. */
  readonly callHistory: CallIdentity[] = [];
  /** The round that has just finished; cleared by the next event. */
  closedRound: RoundState | undefined;
  #finishedText = "";

  static of(events: readonly RunEvent[]): RunState {
    const state = new RunState();
    for (const event of events) state.apply(event);
    return state;
  }

  /** Usage of this run itself, without events copied by a fork. */
  get usage(): Usage {
    return this.spending.own.total;
  }

  /** The current agent's skills, as of when it took over the run. */
  get skills(): readonly ListedSkill[] | undefined {
    return (this.active ?? this.started)?.skills;
  }

  /** All text output that was not retracted. */
  get output(): string {
    return this.#finishedText + (this.round?.text ?? "");
  }

  /** Reserves the call ids of the earlier conversation; vendors refuse duplicates. */
  useIds(messages: readonly Message[]): void {
    for (const { parts } of messages)
      for (const part of parts) if (part.type === "tool_call") this.callIds = withMember(this.callIds, part.call);
  }

  /** Deltas first: they are nearly all events of a run, and only change the round's text. */
  apply(event: RunEvent): void {
    switch (event.type) {
      case "text.delta":
      case "refusal.delta": {
        const { round } = this;
        if (round === undefined) return;
        round.shown = true;
        const signature = event.type === "text.delta" ? event.signature : undefined;
        if (event.text === "" && signature === undefined) return;
        const last = round.parts.at(-1);
        if (last?.type === "text" && last.signature === undefined && signature === undefined) {
          last.text += event.text;
          if (last.text.length > round.flatAt) round.flatAt = flatten(last.text);
        } else {
          round.add({ type: "text", text: event.text, ...(signature === undefined ? {} : { signature }) });
          round.flatAt = 0;
        }
        return;
      }
      case "reasoning.delta":
        return this.round?.addReasoning(event);
      case "tool_call.delta":
      case "tool.output":
        return;
      default:
        this.spending.apply(event);
        if ("signal" in event && event.signal !== undefined)
          this.seenSignals = withMember(this.seenSignals, event.signal);
        return this.#step(event);
    }
  }

  #step(event: RunEvent): void {
    switch (event.type) {
      case "run.started":
        this.started = event;
        this.messages = [...this.messages, ...inputMessages(event.input)];
        return this.useIds(this.messages);
      case "message.added":
        if (event.signal === undefined) this.repaired = true;
        this.messages.push(event.message);
        this.closedRound = undefined;
        return;
      case "round.started":
        return this.#startRound(event);
      case "round.retracted":
        this.round = undefined;
        return;
      case "round.finished":
        return this.#closeRound();
      case "generation.finished":
        if (this.round) this.round.generated = event;
        return;
      case "provider.activity":
        if (event.keep) this.round?.add({ type: "opaque", wire: event.wire, data: event.data });
        return;
      case "tool_call.started":
        this.callIds = withMember(this.callIds, event.call);
        return this.round?.open(event.call);
      case "tool_call.ready":
      case "tool_call.rejected":
        this.callIds = withMember(this.callIds, event.call);
        return this.round?.addCall(event);
      case "question.asked":
        return this.#ask(event);
      case "question.answered":
        return this.#answer({ ...event, approved: event.answered });
      case "approval.requested":
        if (!this.round?.calls.has(event.call)) return this.#ask(event);
        break;
      case "approval.resolved":
        this.#answer(event);
        break;
      case "tools.found":
        for (const name of event.names) this.foundTools = withMember(this.foundTools, name);
        return;
      case "agent.changed":
        this.handedTo = event;
        return;
      case "agent.revised":
        this.revision = event.revision;
        return;
      case "run.paused":
      case "run.continued":
        if (event.agent === undefined) this.paused = event.type === "run.paused";
        else this.agentPaused = event.type === "run.paused";
        return;
      case "memory.recalled":
        if (event.call === undefined) this.recalled = event.notes;
        return;
      case "context.compacted":
        return this.#compact(event);
      case "run.finished":
      case "run.failed":
        this.terminal = event;
        return;
      case "tool.started":
        // A call resumed after a crash is not a new call.
        if (event.attempt === 1) this.toolCalls += 1;
    }
    const call = "call" in event && event.call !== undefined ? this.round?.calls.get(event.call) : undefined;
    if (call !== undefined) this.#advance(call, event);
  }

  #startRound({ round, attempt, provider, model }: EventOf<"round.started">): void {
    this.closedRound = undefined;
    this.round = new RoundState(round, attempt, provider);
    this.roundNumber = round;
    this.model = model;
    this.attempt = attempt;
  }

  /** Applies an event to a call of the current round. */
  #advance(call: CallState, event: RunEvent): void {
    switch (event.type) {
      case "approval.requested":
        call.approval = "requested";
        call.approvalAt = event.at;
        return;
      case "approval.resolved":
        call.approval = event.approved ? "approved" : "denied";
        call.denial = event.reason;
        call.changed = event.arguments;
        if (event.approved) this.approvedOnce = withMember(this.approvedOnce, call.name);
        if (event.approved && event.for === "run") this.allowedForRun = withMember(this.allowedForRun, call.name);
        return;
      case "tool.started":
        call.attempts = event.attempt;
        call.result = undefined;
        // An approval covers one start. If the call is found unfinished after a crash, a person is asked again.
        call.approval = undefined;
        return;
      case "tool.finished":
        return this.#finish(call, event);
    }
  }

  #compact(event: EventOf<"context.compacted">): void {
    for (const call of event.results ?? []) this.foldedResults = withMember(this.foldedResults, call);
    const fold = foldOf(event, this.started?.fork?.after);
    this.compacted = fold === undefined ? event.dropped : 0;
    this.fold = fold ?? this.fold;
  }

  #ask({ call, at, until }: AskedEvent): void {
    this.questions = withEntry(this.questions, call, { since: at, until, verdict: undefined });
  }

  #answer({ call, approved, reason, by, answer, arguments: changed }: Answered): void {
    const asked = this.questions.get(call);
    if (asked === undefined || asked.verdict !== undefined) return;
    const verdict = {
      approved,
      ...(reason === undefined ? {} : { reason }),
      ...(by === undefined ? {} : { by }),
      ...(changed === undefined ? {} : { arguments: changed }),
      ...(answer === undefined ? {} : { answer }),
    };
    this.questions = withEntry(this.questions, call, { ...asked, verdict });
  }

  #finish(call: CallState, event: EventOf<"tool.finished">): void {
    const { result, whole } = resultOf(call, event);
    if (whole !== undefined) this.cutResults = withEntry(this.cutResults, event.call, whole);
    call.result = result;
  }

  #closeRound(): void {
    const round = this.round;
    if (round === undefined) return;
    this.messages.push(...round.messages());
    for (const call of round.inOrder) this.callHistory.push(call);
    if (round.calls.size > 0 || round.generated?.finish === "pause") this.toolRounds += 1;
    this.active = this.handedTo ?? this.active;
    this.handedTo = undefined;
    this.#finishedText += round.text;
    this.closedRound = round;
    this.roundsFinished += 1;
    this.attempt = 0;
    this.round = undefined;
  }
}
