import { type CallSettings, callRequest } from "../core/call-settings.ts";
import { fromJson, VenturiError, wrap } from "../core/errors.ts";
import { isTerminal, type PendingCall, type RunEvent, type RunInput } from "../core/events.ts";
import type { RunRequest } from "../core/journal.ts";
import type { Message } from "../core/messages.ts";
import type { Runs } from "../core/runs.ts";

/** One piece of an agent's stream. The last one has `finish` or `err`, and no other has. */
export interface Chunk {
  readonly content?: string;
  readonly toolCalls?: readonly PendingCall[];
  /** What the run does: the event that says so, or the decision of a plan. */
  readonly action?: Action;
  readonly finish?: string;
  readonly err?: VenturiError;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export type Action =
  | { readonly type: RunEvent["type"]; readonly name?: string; readonly call?: string; readonly text?: string }
  | { readonly type: "call"; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly type: "answer"; readonly text: string };

/** Text, or text with values for the agent's inputs, or a conversation so far. */
export type Inputs = string | RunInput;

/** `model`, `options`, `tools` and `toolChoice` hold for this call alone, over what the config says. */
export interface ExecuteOptions extends CallSettings {
  readonly signal?: AbortSignal;
  readonly session?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A step already taken, for `streamPlan`: what was called and what came of it. */
export interface PlanStep {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly observation: string;
}

export interface Result {
  readonly run: string;
  readonly output: string;
  readonly object?: unknown;
  readonly toolCalls: readonly PendingCall[];
  readonly finish: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An agent of the config, as async iterables. */
export class Agent {
  readonly name: string;
  readonly #runs: Runs;

  constructor(name: string, runs: Runs) {
    this.name = name;
    this.#runs = runs;
  }

  /**
   * Runs the agent and yields what happens, in order. Bad inputs reject before anything streams; any later failure is the last
   * chunk's `err`. The run waits for its reader, and breaking out of the loop cancels it.
   */
  streamExecute(inputs: Inputs, options: ExecuteOptions = {}): AsyncIterable<Chunk> {
    return this.#stream(inputOf(inputs), options);
  }

  /** One generation that decides the next action from earlier steps. Runs no tool. */
  async *streamPlan(steps: readonly PlanStep[], inputs: Inputs, options: ExecuteOptions = {}): AsyncIterable<Chunk> {
    const input = planInput(steps, inputOf(inputs));
    let call: PendingCall | undefined;
    for await (const chunk of this.#stream(input, options, { maxToolRounds: 0 })) {
      call ??= chunk.toolCalls?.[0];
      const { err, finish, ...rest } = chunk;
      // To a plan the limit that keeps its call from being executed is its good end, whatever `onLimit` says.
      const decided = finish !== undefined || (call !== undefined && err?.code === "max_rounds_exceeded");
      if (!decided) yield chunk;
      else yield { ...rest, action: decision(call, chunk), finish: call ? "tool_calls" : (finish ?? "stop") };
    }
  }

  /** `streamExecute`, collected; a failed run rejects. */
  async execute(inputs: Inputs, options: ExecuteOptions = {}): Promise<Result> {
    const toolCalls: PendingCall[] = [];
    for await (const chunk of this.streamExecute(inputs, options)) {
      if (chunk.err) throw chunk.err;
      if (chunk.toolCalls) toolCalls.push(...chunk.toolCalls);
      if (chunk.finish === undefined) continue;
      const { run, output, object } = chunk.metadata;
      const found = object === undefined ? {} : { object };
      const { finish, metadata } = chunk;
      return { run: String(run), output: String(output), toolCalls, finish, metadata, ...found };
    }
    throw new VenturiError("agent.execute", "internal", "the stream ended without a last chunk");
  }

  async *#stream(input: RunInput, options: ExecuteOptions, limits: RunRequest["limits"] = {}): AsyncIterable<Chunk> {
    const { signal, ...settings } = options;
    if (signal?.aborted) {
      yield { err: cancelled(signal), metadata: {} };
      return;
    }
    const request = { agent: this.name, input, limits, ...requestOf(settings) };
    const { run } = await this.#runs.start({ ...request, onDisconnect: "cancel" }, { paced: true });
    const cancel = () => this.#runs.cancel(run, "the caller went away").catch(() => {}); // the run has ended by itself
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) void cancel(); // while the run was being started
    let ended = false;
    try {
      for await (const batch of this.#runs.follow(run, { channel: "library" })) {
        for (const event of batch) {
          ended = isTerminal(event);
          const chunk = chunkOf(event);
          if (chunk) yield chunk;
        }
      }
    } catch (thrown) {
      ended = true;
      void cancel(); // nobody reads the run any more; a journal that cannot be read may not take this either
      yield { err: wrap("agent.execute", thrown), metadata: { run } };
    } finally {
      signal?.removeEventListener("abort", cancel);
      if (!ended) await cancel();
    }
  }
}

const inputOf = (inputs: Inputs): RunInput => (typeof inputs === "string" ? { text: inputs } : inputs);

const requestOf = ({ session, metadata, ...settings }: Omit<ExecuteOptions, "signal">) => ({
  ...callRequest(settings),
  ...(session === undefined ? {} : { session }),
  ...(metadata === undefined ? {} : { metadata }),
});

/** Blank input stays as it is, for the run's own check to refuse it. */
function planInput(steps: readonly PlanStep[], input: RunInput): RunInput {
  const { text, messages = [], ...rest } = input;
  if (steps.length === 0 || (!text?.trim() && messages.length === 0)) return input;
  const asked: Message[] = text === undefined ? [] : [{ role: "user", parts: [{ type: "text", text }] }];
  return { ...rest, messages: [...messages, ...asked, ...steps.flatMap(stepMessages)] };
}

function stepMessages({ name, arguments: input, observation }: PlanStep, index: number): Message[] {
  const call = `step_${index + 1}`;
  return [
    { role: "assistant", parts: [{ type: "tool_call", call, name, arguments: { ...input } }] },
    { role: "tool", parts: [{ type: "tool_result", call, name, ok: true, output: observation }] },
  ];
}

const decision = (call: PendingCall | undefined, last: Chunk): Action =>
  call
    ? { type: "call", name: call.name, arguments: call.arguments }
    : { type: "answer", text: String(last.metadata.output ?? "") };

const cancelled = (signal: AbortSignal): VenturiError =>
  new VenturiError("agent.execute", "stream_interrupted", "the call was cancelled before it began", {
    cause: signal.reason,
  });

/** The chunk that tells of an event; none for those that a later one tells whole. */
function chunkOf(event: RunEvent): Chunk | undefined {
  const { run, seq } = event;
  switch (event.type) {
    case "text.delta":
    case "refusal.delta":
      return { content: event.text, metadata: { run, seq, round: event.round } };
    case "reasoning.delta":
      return { action: { type: event.type, text: event.text }, metadata: { run, seq, round: event.round } };
    case "tool_call.ready": {
      const { call, name } = event;
      return { toolCalls: [{ call, name, arguments: event.arguments }], metadata: { run, seq, round: event.round } };
    }
    case "tool_call.started":
    case "tool_call.rejected":
    case "tool.started":
    case "tool.finished":
    case "approval.requested": {
      const { run: _run, seq: _seq, at: _at, type, ...facts } = event;
      return { action: { type, name: event.name, call: event.call }, metadata: { run, seq, ...facts } };
    }
    case "tool.output":
      return {
        action: { type: event.type, call: event.call, text: event.text },
        metadata: { run, seq, round: event.round },
      };
    case "run.finished": {
      const { type: _type, at: _at, finish, ...facts } = event;
      return { finish, metadata: facts };
    }
    case "run.failed": {
      const { type: _type, at: _at, error, ...facts } = event;
      return { err: fromJson(error), metadata: facts };
    }
    case "tool_call.delta":
    case "provider.activity":
    case "message.added":
    case "generation.finished":
    case "context.compacted":
      return undefined;
    default:
      return { action: { type: event.type }, metadata: { run, seq } };
  }
}
