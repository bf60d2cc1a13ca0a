import { setTimeout as sleep } from "node:timers/promises";
import type { CreateMessageRequestParams } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { Sampler, SamplingOptions } from "../../../plugins/mcp/sampling.ts";
import { limitNames } from "../../../src/core/run/limit-names.ts";
import type { Question, ToolContext, VenturiError } from "../../../src/plugin.ts";
import type { Script } from "../../../src/testing/scripted-run.ts";
import { silentToolContext } from "../../../src/testing/tool-call.ts";
import { ScriptedRuns } from "../../../src/testing.ts";

const params = (more: Partial<CreateMessageRequestParams> = {}): CreateMessageRequestParams => ({
  messages: [{ role: "user", content: { type: "text", text: "what is it?" } }],
  maxTokens: 100,
  ...more,
});
const says =
  (end: Record<string, unknown>): Script =>
  async () =>
    ({ output: "forty two", ...end }) as never; // the ends of this test
const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );

describe("an MCP server's request for a model", () => {
  const started: string[] = [];
  const scripts: Record<string, Script> = {
    thinker: says({ finish: "stop", usage: { inputTokens: 30, outputTokens: 20 } }),
    short: says({ finish: "length" }),
    failing: async () => {
      throw new Error("broke");
    },
    endless: ({ signal }) => new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason))),
  };
  for (const finish of limitNames) scripts[finish] = says({ finish });
  const runs = new ScriptedRuns(scripts, { begin: (run) => void started.push(run) });
  const spent: unknown[] = [];
  const sampler = (options: object = {}, context: Partial<ToolContext> = {}) =>
    new Sampler(
      { ...silentToolContext(), spent: (usage) => void spent.push(usage), ...context },
      {
        runs: () => runs,
        options: SamplingOptions.parse({ agent: "thinker", approval: "never", ...options }),
        server: "remote",
      },
    );
  const requestOf = async () => (await runs.get(started.at(-1) ?? "")).request;
  beforeEach(() => {
    started.length = 0;
    spent.length = 0;
  });

  it("is a run of the agent below the calling one, with what the server asked for", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const own = sampler({}, { run: "run_1", call: "call_1", depth: 1, traceparent, stored: { user: "ann" } });
    const answer = await own.sample(
      params({ systemPrompt: "Be brief.", temperature: 0.5, stopSequences: ["END"], maxTokens: 5_000 }),
    );
    expect(answer).to.deep.include({ role: "assistant", content: { type: "text", text: "forty two" } });
    expect(answer.stopReason).to.equal("endTurn");
    const { parent, options, input, instructions, ...request } = await requestOf();
    expect(parent).to.deep.equal({ run: "run_1", call: "call_1", depth: 2 });
    expect(options).to.deep.equal({ maxTokens: 1_024, temperature: 0.5, stop: ["END"] });
    expect(input.messages).to.deep.equal([{ role: "user", parts: [{ type: "text", text: "what is it?" }] }]);
    expect(instructions).to.deep.include({ role: "system", parts: [{ type: "text", text: "Be brief." }] });
    expect(request).to.deep.include({ agent: "thinker", traceparent });
    expect(request.limits).to.be.an("object");
  });

  it("has at least one token, and no option that was not asked for", async () => {
    await sampler({ maxTokens: 50 }).sample(params({ maxTokens: 0 }));
    const { options, instructions } = await requestOf();
    expect([options, instructions]).to.deep.equal([{ maxTokens: 1 }, undefined]);
    await sampler({ maxTokens: 50 }).sample(params({ maxTokens: 60 }));
    expect((await requestOf()).options).to.deep.equal({ maxTokens: 50 });
  });

  it("may bring texts, images and audio, alone or as a list, and nothing else", async () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image", mimeType: "image/png", data: "aW1n" },
      { type: "audio", mimeType: "audio/wav", data: "d2F2" },
    ] as const;
    await sampler().sample(params({ messages: [{ role: "assistant", content: [...content] }] }));
    expect((await requestOf()).input.messages).to.deep.equal([
      {
        role: "assistant",
        parts: [
          { type: "text", text: "look" },
          { type: "image", mediaType: "image/png", data: "aW1n" },
          { type: "file", mediaType: "audio/wav", data: "d2F2" },
        ],
      },
    ]);
    const odd = { role: "user", content: { type: "tool_use", id: "1", name: "x", input: {} } } as const;
    const refused = await failureOf(sampler().sample(params({ messages: [odd] })));
    expect(refused).to.include({ op: "tool.call", code: "tool_denied" });
    expect(refused.message).to.include("tool_use");
    const tools = [{ name: "x", inputSchema: { type: "object" as const } }];
    expect((await failureOf(sampler().sample(params({ tools })))).code).to.equal("tool_denied");
    await sampler().sample(params({ tools: [] }));
  });

  it("is answered with the reason of its end: enough, cut short, failed, or out of room", async () => {
    expect((await sampler({ agent: "short" }).sample(params())).stopReason).to.equal("maxTokens");
    const failed = await failureOf(sampler({ agent: "failing" }).sample(params()));
    expect(failed).to.include({ op: "tool.call", code: "tool_failed" });
    expect(failed.message).to.include("broke");
    for (const agent of limitNames) {
      const ended = await failureOf(sampler({ agent }).sample(params()));
      expect(ended, agent).to.include({ code: "budget_exceeded" });
      expect(ended.message).to.include(agent);
    }
  });

  it("is the same run when it is asked again after a restart, and another one the second time", async () => {
    const { idempotencyKey } = silentToolContext();
    const context = { idempotencyKey };
    const first = sampler({}, context);
    await first.sample(params());
    await first.sample(params());
    await first.sample(params({ maxTokens: 7 }));
    expect(new Set(started).size).to.equal(3);
    const again = sampler({}, context);
    await again.sample(params());
    await again.sample(params());
    expect(started).to.have.length(3);
  });

  it("counts towards the call, all of them together", async () => {
    const own = sampler();
    await own.sample(params());
    await own.sample(params());
    expect(spent).to.deep.equal([
      { inputTokens: 30, outputTokens: 20 },
      { inputTokens: 60, outputTokens: 40 },
    ]);
  });

  it("comes no more often than it may, and from no deeper", async () => {
    const own = sampler({ most: 2 });
    await own.sample(params());
    await own.sample(params());
    const third = await failureOf(own.sample(params()));
    expect(third).to.include({ code: "tool_denied" });
    expect(third.message).to.include("2 times");
    await sampler({}, { depth: 3 }).sample(params());
    expect((await failureOf(sampler({}, { depth: 4 }).sample(params()))).code).to.equal("tool_denied");
  });

  it("is shown to a person first, who may refuse it", async () => {
    const asked: Question[] = [];
    const answering = (verdict: object) => ({
      ask: async (question: Question) => {
        asked.push(question);
        return verdict as { approved: boolean };
      },
    });
    const always = { approval: "always" };
    await sampler(always, answering({ approved: true })).sample(params({ systemPrompt: "Be brief." }));
    expect(asked[0]).to.deep.include({ name: "sampling" });
    expect(asked[0]).to.have.nested.property("arguments.agent", "thinker");
    expect(asked[0]).to.have.nested.property("arguments.messages[0].parts[0].text", "what is it?");
    expect(asked[0]).to.have.nested.property("arguments.instructions");
    expect(asked[0]?.id).to.match(/^sample-[0-9a-f]{12}-1$/);
    await sampler(always, answering({ approved: true })).sample(params());
    expect(asked[1]).not.to.have.nested.property("arguments.instructions");
    started.length = 0;
    const denied = await failureOf(sampler(always, answering({ approved: false, reason: "no" })).sample(params()));
    expect(denied).to.include({ code: "tool_denied", message: "no" });
    const silent = await failureOf(sampler(always, answering({ approved: false })).sample(params()));
    expect(silent.message).to.include("rejected");
    expect(started).to.deep.equal([]);
  });

  it("ends with the call: before it starts, and while it runs", async () => {
    const gone = await failureOf(sampler({}, { signal: AbortSignal.abort(new Error("gone")) }).sample(params()));
    expect(gone.message).to.equal("gone");
    expect(started).to.deep.equal([]);
    const controller = new AbortController();
    const waiting = failureOf(sampler({ agent: "endless" }, { signal: controller.signal }).sample(params()));
    while (runs.following === 0) await sleep(2);
    controller.abort();
    expect(await waiting).to.include({ op: "tool.call", code: "stream_interrupted" });
    expect((await runs.get(started[0] ?? "")).state).to.equal("done");
  });
});
