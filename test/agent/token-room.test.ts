import { expect } from "chai";
import { estimateTokens } from "../../src/agent/model/estimate.ts";
import type { Message } from "../../src/core/model/messages.ts";
import type { GenerationRequest } from "../../src/core/model/provider.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { run, type Setup, tool } from "./harness.ts";

const text = (characters: number): { input: { text: string } } => ({ input: { text: "x".repeat(characters) } });
const sent = async (setup: Omit<Setup, "model">, script: ConstructorParameters<typeof ScriptedModel>[0] = [["ok"]]) => {
  const model = new ScriptedModel(script);
  const bench = await run({ model, ...setup });
  return { bench, requests: model.requests as readonly GenerationRequest[] };
};

describe("a run's limit of tokens", () => {
  it("of ten tokens is never exceeded: nothing is sent", async () => {
    for (const request of [text(2_400), text(10), {}]) {
      const { bench, requests } = await sent({ limits: { tokens: 10 }, request });
      expect(requests).to.have.length(0);
      expect(bench.terminal).to.include({ type: "run.finished", finish: "max_tokens", output: "" });
      expect(bench.terminal.usage).to.deep.equal({});
    }
    const { bench } = await sent({ limits: { tokens: 10, onLimit: "error" } });
    expect(bench.terminal).to.have.nested.property("error.code", "budget_exceeded");
    expect(bench.terminal).to.have.nested.property("error.details.limit", "max_tokens");
  });

  it("lowered by the request holds as well", async () => {
    const { bench, requests } = await sent({
      request: { ...text(4_000), limits: { tokens: 500 } },
      limits: { tokens: 500 },
    });
    expect(requests).to.have.length(0);
    expect(bench.terminal).to.include({ finish: "max_tokens" });
  });

  it("caps the answer to what is left after the request, by the request's own estimate", async () => {
    const { requests } = await sent({ limits: { tokens: 600 }, request: text(400) });
    expect(requests[0]?.options.maxTokens).to.be.within(450, 500);
    const asked = await sent({ limits: { tokens: 600 }, request: { ...text(400), options: { maxTokens: 5_000 } } });
    expect(asked.requests[0]?.options.maxTokens).to.equal(requests[0]?.options.maxTokens);
    const less = await sent({ limits: { tokens: 600 }, request: { ...text(400), options: { maxTokens: 20 } } });
    expect(less.requests[0]?.options.maxTokens).to.equal(20);
  });

  it("counts the instructions, the tools, the session and what tools answered before it asks", async () => {
    const long = "y".repeat(4_000);
    const old: Message[] = [
      { role: "user", parts: [{ type: "text", text: long }] },
      { role: "assistant", parts: [{ type: "text", text: "ok" }] },
    ];
    for (const setup of [
      { agent: { instructions: long } },
      { tools: [{ ...tool("look", () => ""), description: long }] },
      { session: old },
      { request: { instructions: { role: "system" as const, parts: [{ type: "text" as const, text: long }] } } },
      { request: { output: { name: "o", schema: { description: long } } } },
    ]) {
      const { bench, requests } = await sent({ ...setup, limits: { tokens: 900 } });
      expect(requests, JSON.stringify(Object.keys(setup))).to.have.length(0);
      expect(bench.terminal).to.include({ finish: "max_tokens" });
    }
    const look = tool("look", () => long);
    const { bench, requests } = await sent({ tools: [look], limits: { tokens: 900 } }, [
      [say.call(0, "look", {})],
      ["ok"],
    ]);
    expect(requests).to.have.length(1);
    expect(bench.terminal).to.include({ finish: "max_tokens" });
  });

  it("that leaves much is not sent as a limit, which the model might not take; the answer is cut at it", async () => {
    const { requests } = await sent({ limits: { tokens: 1_000_000 } });
    expect(requests[0]?.options).not.to.have.property("maxTokens");
    const endless = Array.from({ length: 200 }, () => "z".repeat(1_000));
    const { bench } = await sent({ limits: { tokens: 10_000 } }, [endless]);
    expect(bench.terminal).to.include({ finish: "max_tokens" });
    expect(bench.terminal.output.length).to.be.within(40_000, 55_000);
  });

  it("cuts the answer of a provider that ignores the limit it was given", async () => {
    const endless = Array.from({ length: 200 }, () => "z".repeat(100));
    const { bench, requests } = await sent({ limits: { tokens: 200 } }, [endless]);
    const { maxTokens = 0 } = requests[0]?.options ?? {};
    expect(bench.terminal).to.include({ finish: "max_tokens" });
    expect(bench.terminal.output.length).to.be.below(maxTokens * 16 + 200);
  });

  it("leaves out a budget for thinking that no longer fits", async () => {
    const reasoning = { effort: "high", budget: 2_000 } as const;
    const { requests } = await sent({ limits: { tokens: 600 }, agent: { options: { reasoning } } });
    expect(requests[0]?.options.reasoning).to.deep.equal({ effort: "high" });
    const enough = await sent({ limits: { tokens: 3_000 }, agent: { options: { reasoning } } });
    expect(enough.requests[0]?.options.reasoning).to.deep.equal(reasoning);
  });

  it("on what is produced caps the answer too, and refuses one when none is left", async () => {
    const { requests } = await sent({ limits: { outputTokens: 50 } });
    expect(requests[0]?.options.maxTokens).to.equal(50);
    const spent = [say.usage({ inputTokens: 1, outputTokens: 45 }), say.call(0, "look", {})];
    const second = await sent({ tools: [tool("look", () => "")], limits: { outputTokens: 50 } }, [spent, ["ok"]]);
    expect(second.requests).to.have.length(1);
    expect(second.bench.terminal).to.include({ finish: "max_output" });
  });
});

describe("a model's context", () => {
  it("is never sent more than it takes: 300 kB for 8,000 tokens are refused before the call", async () => {
    for (const request of [text(300_000), { input: { text: "水".repeat(20_000) } }]) {
      const { bench, requests } = await sent({ chain: { contextTokens: 8_000 }, request });
      expect(requests).to.have.length(0);
      expect(bench.terminal).to.have.nested.property("error.code", "too_large");
      expect(bench.terminal).to.have.nested.property("error.details.contextTokens", 8_000);
    }
  });

  it("counts native fields of the client wherever they are", async () => {
    const native = { wire: "w", fields: { more: "y".repeat(300_000) } };
    const said = (more: object): NonNullable<Setup["request"]> => ({
      input: { messages: [{ role: "user", parts: [{ type: "text", text: "Hi", ...more }] }] },
    });
    for (const request of [
      { native },
      said({ native }),
      { input: { messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "Hi" }], native }] } },
      {
        input: { messages: [{ role: "user" as const, parts: [{ type: "opaque" as const, wire: "w", data: native }] }] },
      },
      {
        input: {
          messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "y".repeat(300_000), size: 1 }] }],
        },
      },
      { clientTools: [{ name: "a", description: "", parameters: {}, native }] },
    ]) {
      const { bench, requests } = await sent({ chain: { contextTokens: 8_000 }, request });
      expect(requests, JSON.stringify(request).slice(0, 60)).to.have.length(0);
      expect(bench.terminal).to.have.nested.property("error.code", "too_large");
    }
    const kept = { native: { ...native, translated: ["more"] } };
    const { requests } = await sent({ chain: { contextTokens: 8_000 }, request: said(kept) });
    expect(requests).to.have.length(1);
  });

  it("also refuses instructions and tools that alone do not fit", async () => {
    const long = "y".repeat(40_000);
    for (const setup of [
      { agent: { instructions: long } },
      { tools: [{ ...tool("look", () => ""), description: long }] },
    ]) {
      const { bench, requests } = await sent({ ...setup, chain: { contextTokens: 8_000 } });
      expect(requests).to.have.length(0);
      expect(bench.terminal).to.have.nested.property("error.code", "too_large");
    }
  });

  it("drops old turns and shortens results instead, where that is enough", async () => {
    const long = "y".repeat(300_000);
    const old: Message[] = [
      { role: "user", parts: [{ type: "text", text: long }] },
      { role: "assistant", parts: [{ type: "text", text: "ok" }] },
    ];
    const after = await sent({ session: old, chain: { contextTokens: 8_000 } });
    expect(after.bench.terminal).to.include({ output: "ok" });
    const look = tool("look", () => "y".repeat(60_000));
    const { bench, requests } = await sent(
      { tools: [look], chain: { contextTokens: 8_000 }, policy: { maxOutput: 100_000 } },
      [[say.call(0, "look", {})], ["ok"]],
    );
    expect(bench.terminal).to.include({ output: "ok" });
    expect(estimateTokens(JSON.stringify(requests[1]?.messages))).to.be.below(8_000);
  });

  it("lowers a longer answer that was asked for", async () => {
    const { requests } = await sent({
      chain: { contextTokens: 1_000 },
      request: { ...text(2_000), options: { maxTokens: 4_000 } },
    });
    expect(requests[0]?.options.maxTokens).to.be.within(400, 500);
  });
});
