import { defaultTimeouts } from "../../src/agent/run/definition.ts";
import type { Claim, Ownership } from "../../src/core/journal/journal.ts";
import type { RunLog } from "../../src/core/journal/run-log.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { GenerationContext, GenerationRequest, Provider } from "../../src/core/model/provider.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Telemetry } from "../../src/core/ports/telemetry.ts";
import type { Tool, ToolContext } from "../../src/core/ports/tool.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import type { RunRequest } from "../../src/core/run/run-request.ts";

/** A run's log without a journal behind it. */
export class PlainLog implements RunLog {
  readonly events: RunEvent[] = [];
  readonly ownership: Ownership;
  readonly abort = new AbortController();
  readonly pressure = undefined;

  constructor(run: string, session?: string) {
    this.ownership = { run, session, epoch: 1, worker: "test", head: 0 };
  }

  get head(): number {
    return this.events.length;
  }
  get signal(): AbortSignal {
    return this.abort.signal;
  }
  write(body: EventBody): RunEvent {
    const event = { ...body, run: this.ownership.run, seq: this.head + 1, at: Date.now() } as RunEvent; // body + place = event
    this.events.push(event);
    return event;
  }
  async flush(): Promise<void> {
    this.abort.signal.throwIfAborted();
  }
  async step(body: EventBody): Promise<RunEvent> {
    const event = this.write(body);
    await this.flush();
    return event;
  }
  async park(): Promise<void> {}
}

export const claimOf = (log: RunLog, request: Partial<RunRequest> = {}): Claim => ({
  ownership: log.ownership,
  tenant: "default",
  request: { agent: "assistant", input: { text: "hello" }, ...request },
  signals: 0,
});

export const timing = {
  providerWait: 5,
  providerStream: 10,
  retryWait: 0,
  tool: 2,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 1,
};

export const started: EventBody = { type: "run.started", agent: "assistant", input: { text: "hello" }, config: "abc" };
export const finished: EventBody = {
  type: "run.finished",
  finish: "stop",
  output: "",
  usage: {},
  rounds: 1,
  timing,
};
export const roundStarted = (round: number, attempt = 1, model = "demo/small"): EventBody => ({
  type: "round.started",
  round,
  model,
  provider: "demo",
  attempt,
});
export const roundFinished = (round: number): EventBody => ({
  type: "round.finished",
  round,
  finish: "stop",
  usage: {},
});

export const request = (model = "small"): GenerationRequest => ({
  model,
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [],
  options: { temperature: 0.5 },
});

export const generationContext = (run: string, round: number, signal?: AbortSignal): GenerationContext => ({
  run,
  round,
  attempt: 1,
  agent: "assistant",
  signal: signal ?? new AbortController().signal,
  timeouts: defaultTimeouts,
});

export const toolContext = (run: string, round: number, call: string): ToolContext => ({
  run,
  round,
  call,
  agent: "assistant",
  attempt: 1,
  tenant: "default",
  idempotencyKey: `${run}:${call}`,
  signal: new AbortController().signal,
  log: silentLog,
  depth: 0,
  progress: () => {},
  record: () => {},
  budget: () => ({ maxToolCalls: 64 }),
  spent: () => {},
  ask: async () => ({ approved: false }),
  transfer: async () => {},
  context: undefined,
  stored: undefined,
});

/** Says `chunks` pieces of text as a wire would, `perRead` of them in a read, with one call's fragment in each `callEvery`. */
export function wireProvider(settings: { chunks: number; perRead?: number; callEvery?: number }): Provider {
  const { chunks, perRead = 4, callEvery = 0 } = settings;
  return {
    capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
    endpoint: "https://models.example/v1",
    async *stream(_request: GenerationRequest, context: GenerationContext) {
      for (let chunk = 0; chunk < chunks; ) {
        await new Promise((resolve) => setImmediate(resolve));
        context.signal.throwIfAborted();
        const deltas: Delta[] = [];
        for (let inRead = 0; inRead < perRead && chunk < chunks; inRead++, chunk++) {
          const start = performance.now();
          const call = callEvery > 0 && chunk % callEvery === 0;
          deltas.push(
            call ? { type: "tool_call", index: 0, arguments: "ab", chunk } : { type: "text", text: `piece ${chunk} ` },
          );
          context.observer?.chunk(call ? "tool_call" : "text", 100, start, performance.now());
        }
        yield deltas;
      }
      yield [
        { type: "response", id: "response-1", model: "small-2026" },
        { type: "usage", usage: { inputTokens: 7, outputTokens: chunks } },
        { type: "done", finish: "stop" },
      ] satisfies Delta[];
    },
  };
}

/** One generation, read to its end, with accumulation told as the agent does. */
export async function generate(provider: Provider, run: string, round: number, signal?: AbortSignal): Promise<void> {
  const context = generationContext(run, round, signal);
  let bytes = 0;
  for await (const deltas of provider.stream?.(request(), context) ?? []) {
    for (const delta of deltas) {
      if (delta.type !== "tool_call") continue;
      const start = performance.now();
      bytes += delta.arguments?.length ?? 0;
      context.observer?.accumulated(delta.chunk ?? -1, delta.index, bytes, false, start, performance.now());
    }
  }
}

export const echo: Tool = {
  name: "echo",
  description: "Says what it is told",
  parameters: { type: "object" },
  effect: "pure",
  call: async (input) => input,
};

/** A run of one round: a generation, one tool call while it goes on, the end. */
export async function wholeRun(
  telemetry: Telemetry,
  run: string,
  parts: { provider: Provider; tool: Tool; request?: Partial<RunRequest> },
): Promise<PlainLog> {
  const plain = new PlainLog(run);
  const log = telemetry.runLog(plain, claimOf(plain, parts.request), []);
  await log.step(started);
  log.write(roundStarted(1));
  const call = `call-${run}`;
  const generation = generate(parts.provider, run, 1);
  await parts.tool.call({ text: "x" }, toolContext(run, 1, call));
  await log.step({ type: "tool.finished", round: 1, call, name: "echo", ok: true, output: "x", ms: 1, savedMs: 0.5 });
  await generation;
  await log.step(roundFinished(1));
  await log.step(finished);
  return plain;
}
