import { VenturiError } from "../core/errors/errors.ts";
import type { Message } from "../core/model/messages.ts";
import type { Runs } from "../core/ports/runs.ts";
import { type CallSettings, callRequest } from "../core/run/call-settings.ts";
import { costsOf } from "../core/run/costs.ts";
import type { RunInput } from "../core/run/event-fields.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import type { AgentLike, Named } from "./agent.ts";
import { type Action, type Chunk, type Finish, isWhole, type ToolCall } from "./chunk.ts";
import { ChunkStream } from "./chunk-stream.ts";

/** Text, text with values for the agent's inputs, or a conversation so far. */
export type Inputs = string | RunInput;

/** `model`, `options`, `tools`, `toolChoice` and `debug` apply to this call only and override the config. */
export interface ExecuteOptions extends CallSettings {
  readonly signal?: AbortSignal;
  readonly session?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A completed step, for `streamPlan`: the call and its result. */
export interface PlanStep {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly observation: string;
}

/** Result of `execute`: the last chunk's `finish`, and every call that was made. */
export interface ExecuteResult extends Finish {
  readonly run: string;
  readonly toolCalls: readonly ToolCall[];
}

/** An agent addressed by name, exposed as async iterables. */
export class NamedAgent implements AgentLike<Named> {
  readonly kind = "agent";
  declare readonly "~spec"?: Named;
  readonly name: string;
  readonly #runs: Runs;

  constructor(name: string, runs: Runs) {
    this.name = name;
    this.#runs = runs;
  }

  /**
   * Runs the agent and yields chunks in order. Bad inputs reject before anything streams; any later failure is the last chunk's
   * `err`. The reader applies backpressure, and breaking out of the loop cancels the run.
   */
  streamExecute(inputs: Inputs, options: ExecuteOptions = {}): AsyncIterable<Chunk> {
    return this.#stream(inputOf(inputs), options);
  }

  /** One generation that decides the next action from earlier steps. Executes no tool. */
  async *streamPlan(steps: readonly PlanStep[], inputs: Inputs, options: ExecuteOptions = {}): AsyncIterable<Chunk> {
    const input = planInput(steps, inputOf(inputs));
    let call: ToolCall | undefined;
    for await (const chunk of this.#stream(input, options, { maxToolRounds: 0 })) {
      call ??= chunk.toolCalls?.find(isWhole);
      const finish = planFinish(chunk, call);
      if (finish === undefined) yield chunk;
      else yield { action: decision(call, finish), finish, metadata: chunk.metadata };
    }
  }

  /** `streamExecute`, collected; a failed run rejects. */
  async execute(inputs: Inputs, options: ExecuteOptions = {}): Promise<ExecuteResult> {
    const toolCalls: ToolCall[] = [];
    for await (const chunk of this.streamExecute(inputs, options)) {
      if (chunk.err) throw chunk.err;
      if (chunk.toolCalls) toolCalls.push(...chunk.toolCalls.filter(isWhole));
      if (chunk.finish) return { run: chunk.metadata.run, ...chunk.finish, toolCalls };
    }
    throw new VenturiError("agent.execute", "internal", "the stream ended without a last chunk");
  }

  /** Pauses the agent: all its runs, including later ones, finish their round and wait, across restarts. False if it is already paused. */
  async pause(reason?: string): Promise<boolean> {
    return (await this.#runs.pauseAgent?.(this.name, reason === undefined ? {} : { reason })) ?? false;
  }

  /** False if it is not paused. */
  async resume(): Promise<boolean> {
    return (await this.#runs.resumeAgent?.(this.name)) ?? false;
  }

  #stream(input: RunInput, options: ExecuteOptions, limits: RunRequest["limits"] = {}): AsyncIterable<Chunk> {
    const { signal, ...settings } = options;
    return new ChunkStream(this.#runs, { agent: this.name, input, limits, ...requestOf(settings) }, signal);
  }
}

const inputOf = (inputs: Inputs): RunInput => (typeof inputs === "string" ? { text: inputs } : inputs);

const requestOf = ({ session, metadata, ...settings }: Omit<ExecuteOptions, "signal">) => ({
  ...callRequest(settings),
  ...(session === undefined ? {} : { session }),
  ...(metadata === undefined ? {} : { metadata }),
});

/** Passes blank input on, so that the run's own validation rejects it. */
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

/**
 * The plan's finish, if this chunk ends it successfully. The limit that prevents executing its call counts as success, whatever
 * `onLimit` says.
 */
function planFinish({ finish, err, action }: Chunk, call: ToolCall | undefined): Finish | undefined {
  const reason = call === undefined ? finish?.reason : "tool_calls";
  if (reason === undefined) return undefined;
  if (finish !== undefined) return { ...finish, reason };
  if (err?.code !== "max_rounds_exceeded" || action?.type !== "run.failed") return undefined;
  const { output, usage, rounds, timing } = action;
  return { reason, output, usage, ...costsOf(action), rounds, timing };
}

const decision = (call: ToolCall | undefined, { output }: Finish): Action =>
  call ? { type: "call", name: call.name, arguments: call.arguments } : { type: "answer", text: output };
