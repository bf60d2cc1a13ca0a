import type { ConnectionState, ErrorBody, EventOf, RunEvent } from "../client/client.ts";

/** A tool call as a page shows it. */
export interface CallState {
  readonly call: string;
  readonly name: string;
  readonly round: number;
  /** `writing` while the model is still writing the arguments. */
  readonly status: "writing" | "ready" | "asking" | "running" | "done" | "failed";
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The tool's progress, then its result. */
  readonly output?: string;
  readonly error?: ErrorBody;
}

/** A run's state from its events. A new object whenever something changed. */
export interface RunState {
  readonly run: string;
  readonly status: "loading" | "running" | "waiting" | "finished" | "failed";
  /** The answer so far, without retracted output. */
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly CallState[];
  /** Waiting for a person: calls to approve, and questions of tools. */
  readonly questions: readonly EventOf<"approval.requested" | "question.asked">[];
  readonly result?: EventOf<"run.finished">;
  /** Why the run failed, or could not be followed. */
  readonly error?: ErrorBody;
  /** Seq of the last event applied. */
  readonly seq: number;
  readonly connection: ConnectionState;
  /** Text and reasoning of the current round, which may be retracted. */
  readonly open: { readonly round: number; readonly text: string; readonly reasoning: string };
}

const nothing = { round: 0, text: "", reasoning: "" };

export const initialState = (run: string): RunState => ({
  run,
  status: "loading",
  text: "",
  reasoning: "",
  calls: [],
  questions: [],
  seq: 0,
  connection: "connecting",
  open: nothing,
});

/** The state after one more event. Pure: the same events give the same state, live or after a reload. */
export function nextState(before: RunState, event: RunEvent): RunState {
  const state = { ...before, seq: event.seq };
  switch (event.type) {
    case "run.started":
      return { ...state, status: "running" };
    case "round.started":
      return { ...withoutRound(state, event.round), open: { ...nothing, round: event.round } };
    case "text.delta":
    case "refusal.delta":
      return added(state, { text: event.text });
    case "reasoning.delta":
      return added(state, { reasoning: event.text });
    case "round.retracted":
      return withoutRound(state, event.round);
    case "round.finished":
      return { ...state, open: nothing };
    case "tool_call.started": {
      const { call, name, round } = event;
      return { ...state, calls: [...state.calls, { call, name, round, status: "writing" }] };
    }
    case "tool_call.ready":
      return withCall(state, event.call, () => ({ status: "ready", arguments: event.arguments }));
    case "tool_call.rejected":
      return withCall(state, event.call, () => ({ status: "failed", error: event.error }));
    case "tool.started":
      return withCall(state, event.call, () => ({ status: "running" }));
    case "tool.output":
      return withCall(state, event.call, ({ output = "" }) => ({ output: output + event.text }));
    case "tool.finished":
      return withCall(state, event.call, () => ({
        status: event.ok ? "done" : "failed",
        ...(event.output === undefined ? {} : { output: event.output }),
        ...(event.error === undefined ? {} : { error: event.error }),
      }));
    case "approval.requested": {
      const asked = withCall(state, event.call, () => ({ status: "asking" }));
      return { ...asked, status: "waiting", questions: [...asked.questions, event] };
    }
    case "approval.resolved": {
      const questions = state.questions.filter((question) => question.call !== event.call);
      const answered = withCall(state, event.call, () => ({ status: "ready" }));
      return { ...answered, questions, status: questions.length > 0 ? "waiting" : "running" };
    }
    case "question.asked":
      return { ...state, status: "waiting", questions: [...state.questions, event] };
    case "question.answered": {
      const questions = state.questions.filter((question) => question.call !== event.call);
      return { ...state, questions, status: questions.length > 0 ? "waiting" : "running" };
    }
    case "run.finished":
      return { ...state, status: "finished", questions: [], result: event, open: nothing };
    case "run.failed":
      return { ...state, status: "failed", questions: [], error: event.error, open: nothing };
    default:
      return state;
  }
}

function added(state: RunState, { text = "", reasoning = "" }: { text?: string; reasoning?: string }): RunState {
  const { open } = state;
  return {
    ...state,
    text: state.text + text,
    reasoning: state.reasoning + reasoning,
    open: { ...open, text: open.text + text, reasoning: open.reasoning + reasoning },
  };
}

/** Removes the retracted output and calls of a round. */
function withoutRound(state: RunState, round: number): RunState {
  const { open } = state;
  return {
    ...state,
    text: state.text.slice(0, state.text.length - open.text.length),
    reasoning: state.reasoning.slice(0, state.reasoning.length - open.reasoning.length),
    calls: state.calls.filter((call) => call.round !== round),
    open: nothing,
  };
}

function withCall(state: RunState, id: string, change: (call: CallState) => Partial<CallState>): RunState {
  return { ...state, calls: state.calls.map((call) => (call.call === id ? { ...call, ...change(call) } : call)) };
}
