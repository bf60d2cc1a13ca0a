import { createHash } from "node:crypto";
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  SamplingMessageContentBlock,
} from "@modelcontextprotocol/client";
import { budgetLimits, costOfAll, isLimitName, textMessage, traceHeadersIn } from "venturi/internal";
import {
  type Message,
  type RunRequest,
  type Runs,
  type TerminalEvent,
  type ToolContext,
  terminalOf,
  VenturiError,
} from "venturi/plugin";
import { z } from "zod";

const op = "tool.call";

export const SamplingOptions = z.strictObject({
  agent: z.string().describe("the agent that answers: its model, its instructions, its limits and budgets"),
  maxTokens: z.number().int().positive().default(1_024).describe("maximum tokens of an answer"),
  most: z.number().int().positive().default(10).describe("maximum requests during one call"),
  approval: z.enum(["always", "never"]).default("always").describe("whether a person sees each request first"),
});
export type SamplingOptions = z.output<typeof SamplingOptions>;

/** How deep agents may sample through tools of agents that sample. */
const deepest = 4;

/** A server's requests for a model during one call: each is a run below the calling one, and part of what that spends. */
export class Sampler {
  readonly #context: ToolContext;
  readonly #runs: () => Runs;
  readonly #options: SamplingOptions;
  readonly #server: string;
  readonly #asked = new Map<string, number>();
  #count = 0;
  #spent: { readonly input: number; readonly output: number; readonly cost: number | undefined } = {
    input: 0,
    output: 0,
    cost: 0,
  };

  constructor(
    context: ToolContext,
    { runs, options, server }: { runs: () => Runs; options: SamplingOptions; server: string },
  ) {
    this.#context = context;
    this.#runs = runs;
    this.#options = options;
    this.#server = server;
  }

  async sample(params: CreateMessageRequestParams): Promise<CreateMessageResult> {
    const { depth, signal } = this.#context;
    const { agent, most, approval } = this.#options;
    if (++this.#count > most) throw refused(`the server has asked for a model ${most} times in this call`);
    if (depth >= deepest) throw refused("agents sample each other");
    if ((params.tools?.length ?? 0) > 0) throw refused("the server may not bring tools of its own");
    const request = this.#request(params);
    const id = this.#idOf(params);
    if (approval === "always") await this.#approve(id, request);
    signal.throwIfAborted();
    const runs = this.#runs();
    const key = `mcp-sampling:${this.#context.idempotencyKey}:${id}`;
    const { run } = await runs.start(request, { key, context: this.#context.stored });
    const end = await terminalOf(runs.follow(run, { signal, channel: "tool" }));
    if (end === undefined) {
      await runs.cancel(run, "the calling run was cancelled");
      throw new VenturiError(op, "stream_interrupted", "the call was cancelled");
    }
    this.#charge(end);
    if (end.type === "run.failed") throw new VenturiError(op, "tool_failed", `${end.error.code}: ${end.error.err}`);
    if (isLimitName(end.finish)) throw new VenturiError(op, "budget_exceeded", `there was no room left: ${end.finish}`);
    const model = runs.agents().find(({ name }) => name === agent)?.model ?? agent;
    const stopReason = end.finish === "length" ? "maxTokens" : "endTurn";
    return { role: "assistant", content: { type: "text", text: end.output }, model, stopReason };
  }

  #request({ messages, systemPrompt, maxTokens, temperature, stopSequences }: CreateMessageRequestParams): RunRequest {
    const { run, call, depth } = this.#context;
    return {
      agent: this.#options.agent,
      input: { messages: messages.map(messageOf) },
      ...(systemPrompt === undefined ? {} : { instructions: textMessage("system", systemPrompt) }),
      options: {
        maxTokens: Math.max(1, Math.min(maxTokens, this.#options.maxTokens)),
        ...(temperature === undefined ? {} : { temperature }),
        ...(stopSequences === undefined ? {} : { stop: stopSequences }),
      },
      limits: budgetLimits(this.#context.budget()),
      parent: { run, call, depth: depth + 1 },
      ...traceHeadersIn(this.#context),
    };
  }

  async #approve(id: string, { agent, input, instructions }: RunRequest): Promise<void> {
    const { approved, reason } = await this.#context.ask({
      id: `sample-${id}`,
      name: "sampling",
      arguments: { agent, messages: input.messages, ...(instructions === undefined ? {} : { instructions }) },
      reason: `The server "${this.#server}" wants the model of ${agent} to answer this`,
    });
    if (!approved) throw new VenturiError(op, "tool_denied", reason ?? "the user rejected the server's request");
  }

  /** Total of this call; unknown once one cost is. */
  #charge(end: TerminalEvent): void {
    const cost = costOfAll(end);
    const before = this.#spent;
    this.#spent = {
      input: before.input + (end.usage.inputTokens ?? 0),
      output: before.output + (end.usage.outputTokens ?? 0),
      cost: cost === undefined || before.cost === undefined ? undefined : before.cost + cost,
    };
    this.#context.spent({ inputTokens: this.#spent.input, outputTokens: this.#spent.output }, this.#spent.cost);
  }

  /** The same after a restart, when the server asks the same again in the same order. */
  #idOf(params: CreateMessageRequestParams): string {
    const hash = createHash("sha256").update(JSON.stringify(params)).digest("hex").slice(0, 12);
    const times = (this.#asked.get(hash) ?? 0) + 1;
    this.#asked.set(hash, times);
    return `${hash}-${times}`;
  }
}

function messageOf({ role, content }: CreateMessageRequestParams["messages"][number]): Message {
  const blocks = Array.isArray(content) ? content : [content];
  return { role, parts: blocks.map(partOf) };
}

function partOf(block: SamplingMessageContentBlock): Message["parts"][number] {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", mediaType: block.mimeType, data: block.data };
    case "audio":
      return { type: "file", mediaType: block.mimeType, data: block.data };
    default:
      throw refused(`content of the type ${block.type} is not taken`);
  }
}

const refused = (message: string): VenturiError => new VenturiError(op, "tool_denied", message);
