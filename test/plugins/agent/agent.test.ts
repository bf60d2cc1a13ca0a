import { expect } from "chai";
import agent from "../../../plugins/agent/index.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { Tool, ToolContext } from "../../../src/core/ports/tool.ts";
import { callTool, ScriptedRuns, testPluginContext, toolContract } from "../../../src/testing.ts";

const started: string[] = [];
const ended: string[] = [];
const runs = new ScriptedRuns(
  {
    helper: async ({ request, emit, signal }) => {
      if (request.input.text === "for ever") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      signal.throwIfAborted();
      emit({ type: "text.delta", round: 1, text: "thinking about " });
      emit({ type: "text.delta", round: 1, text: String(request.input.text) });
      return { output: `done: ${request.input.text} ${JSON.stringify(request.input.variables ?? {})}` };
    },
    spender: async ({ emit }) => {
      const usage = { inputTokens: 10, outputTokens: 1 };
      emit({ type: "generation.finished", round: 1, attempt: 1, finish: "tool_calls", usage });
      // A call's search is part of what the call spent.
      emit({ type: "memory.recalled", round: 1, call: "c1", store: "s", query: "q", notes: [], usage });
      emit({ type: "tool.finished", round: 1, call: "c1", name: "recall", ok: true, ms: 1, usage });
      await new Promise((resolve) => setImmediate(resolve));
      return { output: "done" };
    },
    structured: async () => ({ output: "{}", object: { answer: 42 } }),
    failing: async () => {
      throw new VenturiError("provider.stream", "rate_limited", "too many requests");
    },
    endless: ({ signal, emit }) =>
      new Promise((_resolve, reject) => {
        emit({ type: "text.delta", round: 1, text: "on it" });
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
  },
  { begin: (run) => void started.push(run), end: (run) => void ended.push(run) },
);

const create = (options: Record<string, unknown>) =>
  agent.create(agent.options.parse(options), testPluginContext({ name: "ask", runs: () => runs })) as Tool;
const ask = (options: Record<string, unknown>, input: Record<string, unknown>, context: Partial<ToolContext> = {}) =>
  callTool(create(options), input, context);
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );

toolContract("agent", {
  create: () => create({ agent: "helper" }),
  samples: [{ tool: "ask", input: { task: "something" } }],
  misfits: [{ tool: "ask", input: {} }],
  endless: { tool: "ask", input: { task: "for ever" } },
});
describe("agent", () => {
  it("answers with the run's output, and tells its run and its text on the way", async () => {
    const { output, progress } = await ask({ agent: "helper" }, { task: "tea", variables: { cups: 2 } });
    expect(output).to.equal('done: tea {"cups":2}');
    expect(progress[0]).to.equal(`run ${started.at(-1)}\n`);
    expect(progress.slice(1).join("")).to.equal("thinking about tea");
  });

  it("answers with the object of an agent that has an output schema", async () => {
    expect((await ask({ agent: "structured" }, { task: "x" })).output).to.deep.equal({ answer: 42 });
  });

  it("tells what the run has spent, each token once", async () => {
    const told: unknown[] = [];
    await ask({ agent: "spender" }, { task: "x" }, { spent: (usage) => void told.push(usage) });
    expect(told.slice(0, -1).at(-1)).to.deep.equal({ inputTokens: 20, outputTokens: 2 });
  });

  it("links the run to its caller and joins its trace", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await ask({ agent: "helper" }, { task: "x" }, { depth: 1, traceparent, call: "call_test" });
    const row = await runs.get(started.at(-1) ?? "");
    expect(row.request.parent).to.deep.equal({ run: "run_test", call: "call_test", depth: 2 });
    expect(row.request.traceparent).to.equal(traceparent);
  });

  it("goes no deeper than it may", async () => {
    const before = started.length;
    expect((await failureOf(ask({ agent: "helper" }, { task: "x" }, { depth: 3 }))).code).to.equal("tool_denied");
    expect(started.length).to.equal(before);
    await ask({ agent: "helper", maxDepth: 4 }, { task: "x" }, { depth: 3 });
  });

  it("a run that fails is a tool_failed that names the agent, the code and the run", async () => {
    const thrown = await failureOf(ask({ agent: "failing" }, { task: "x" }));
    expect([thrown.code, thrown.message]).to.deep.equal([
      "tool_failed",
      'the agent "failing" failed: rate_limited: too many requests',
    ]);
    expect(thrown.details).to.deep.equal({ run: started.at(-1), code: "rate_limited" });
  });

  it("an agent that does not exist is reported", async () => {
    expect((await failureOf(ask({ agent: "nobody" }, { task: "x" }))).code).to.equal("not_found");
  });

  it("cancelling the call ends the run it started", async () => {
    const controller = new AbortController();
    const progress = (text: string) => {
      if (text === "on it") controller.abort(new VenturiError("run.cancel", "stream_interrupted", "enough"));
    };
    const thrown = await failureOf(ask({ agent: "endless" }, { task: "x" }, { signal: controller.signal, progress }));
    expect(thrown.code).to.equal("stream_interrupted");
    expect(ended).to.include(started.at(-1));
    expect(runs.following).to.equal(0);
  });

  it("a worker that hands over leaves the run going, and the same call finds it again", async () => {
    const handover = new AbortController();
    const idempotencyKey = "run_test:handed-over";
    const stop = (text: string) => {
      if (text === "on it") handover.abort(new VenturiError("worker.stop", "shutting_down", "draining"));
    };
    await failureOf(
      ask({ agent: "endless" }, { task: "x" }, { signal: handover.signal, idempotencyKey, progress: stop }),
    );
    const run = started.at(-1) ?? "";
    expect((await runs.get(run)).state).to.equal("running");
    const again = new AbortController();
    const seen: string[] = [];
    const progress = (text: string) => {
      seen.push(text);
      if (text === "on it") again.abort(new VenturiError("run.cancel", "stream_interrupted", "enough"));
    };
    await failureOf(ask({ agent: "endless" }, { task: "x" }, { signal: again.signal, idempotencyKey, progress }));
    expect(seen[0]).to.equal(`run ${run}\n`);
    expect((await runs.get(run)).state).to.equal("done");
  });
});
