import { expect } from "chai";
import agent from "../../../plugins/agent/index.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { Tool, ToolContext } from "../../../src/core/ports/tool.ts";
import { callTool, ScriptedRuns, testPluginContext, toolContract } from "../../../src/testing.ts";

const started: string[] = [];
/** Answers that reached a run, and when there are two. */
const answers: { readonly body: unknown; readonly id: string | undefined }[] = [];
let answered = Promise.withResolvers<void>();
let answeredAgain = Promise.withResolvers<void>();
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
    asker: async ({ emit }) => {
      const request = { round: 1, name: "pay", arguments: {}, reason: "policy" };
      for (const call of ["c1", "c2", "c3"]) emit({ type: "approval.requested", call, ...request } as never);
      emit({ type: "approval.resolved", round: 1, call: "c3", approved: true, by: "bob" } as never);
      await answered.promise;
      emit({ type: "approval.requested", call: "c1", ...request } as never);
      await answeredAgain.promise;
      return { output: "done" };
    },
    worker: async ({ emit }) => {
      const call = { round: 1, call: "c1", name: "find" };
      emit({ type: "tool.started", ...call } as never);
      emit({ type: "tool.output", round: 1, call: "c1", text: "found" } as never);
      const finished = { type: "tool.finished", ...call, ms: 1 };
      emit({ ...finished, ok: true } as never);
      emit({ ...finished, ok: false, error: { op: "tool.call", code: "tool_failed", err: "no luck" } } as never);
      emit({ ...finished, ok: false } as never);
      return { output: "done" };
    },
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

const send = runs.signal.bind(runs);
runs.signal = async (run, kind, body, id) => {
  answers.push({ body, id });
  if (answers.length === 2) answered.resolve();
  if (answers.length === 3) answeredAgain.resolve();
  return await send(run, kind, body, id);
};

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

  it("its questions are the caller's: each answer reaches it once, and one given there settles the question here", async () => {
    answers.length = 0;
    answered = Promise.withResolvers<void>();
    answeredAgain = Promise.withResolvers<void>();
    const asked: string[] = [];
    const answering: ToolContext["ask"] = async (question) => {
      asked.push(`${question.id} ${question.name} ${question.origin?.agent}`);
      if (question.id === "c3") return (await question.settled) ?? { approved: false };
      return {
        approved: question.id === "c1",
        by: "ann",
        reason: `for ${question.id}`,
        arguments: {},
        for: "run",
      } as never;
    };
    await ask({ agent: "asker" }, { task: "x" }, { ask: answering });
    expect(asked).to.deep.equal(["c1 pay asker", "c2 pay asker", "c3 pay asker", "c1-2 pay asker"]);
    expect(answers.slice(0, 2).map(({ body }) => body)).to.deep.equal([
      { call: "c1", approved: true, by: "ann", reason: "for c1" },
      { call: "c2", approved: false, by: "ann", reason: "for c2" },
    ]);
    expect(new Set(answers.map(({ id }) => id)).size, "none is taken for another, nor for one of before").to.equal(3);
  });

  it("tells which tools the run calls and which fail", async () => {
    const { progress } = await ask({ agent: "worker" }, { task: "x" });
    expect(progress.slice(1).join("")).to.equal("\n→ find\nfound\n✗ find: no luck\n\n✗ find: failed\n");
  });

  it("a run that ends without an outcome fails the call", async () => {
    const silent = Object.assign(Object.create(runs) as typeof runs, {
      start: async () => ({ run: "run_x", existing: false }),
      async *follow() {
        yield [];
      },
    });
    const tool = agent.create(
      agent.options.parse({ agent: "helper" }),
      testPluginContext({ runs: () => silent }),
    ) as Tool;
    const thrown = await failureOf(callTool(tool, { task: "x" }));
    expect(thrown).to.include({ op: "tool.call", code: "tool_failed" });
    expect(thrown.message).to.include("ended without an outcome");
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
    const idempotencyKey = `run_test:handed-over-${started.length}`;
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
