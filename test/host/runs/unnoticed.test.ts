// Small changes of how runs are kept that no other test noticed: each was found by `npm run mutate`.
import { createHash } from "node:crypto";
import { expect } from "chai";
import type { AgentDefinition } from "../../../src/agent/run/definition.ts";
import type { EmbedRequest } from "../../../src/core/model/provider.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import type { EventOf, RunEvent } from "../../../src/core/run/events.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { AgentFrames } from "../../../src/host/runs/agent-frames.ts";
import { enqueueing } from "../../../src/testing/journal-bench.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { agentOf } from "../../agent/harness.ts";
import { memory } from "../../journal/setup.ts";
import { testFolder } from "../folder.ts";

const config = (agents: string) => `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { sum: { type: calculator, approval: always } }
agents: ${agents}
journal: { type: memory }
channels: {}
prices:
  demo/small: { input: 2, output: 10 }
  demo/a: { input: 1, output: 1 }
  demo/b: { input: 2, output: 2 }
models:
  large: { chain: [demo/large] }
  turns: { chain: [demo/a, demo/b], choose: cheapest, retry: { max: 0 } }
guards:
  mails: { type: rules, find: [email], input: block }
  cards: { type: rules, find: [card], input: redact }
`;
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "",
    (thrown: { op: string; code: string }) => `${thrown.op} ${thrown.code}`,
  );

describe("runs in a journal", () => {
  const folder = testFolder();
  let host: Host;
  let model: ScriptedModel;
  afterEach(() => host.close());
  const payer = "payer: { model: demo/small, tools: [sum], guards: [mails, cards] }";
  const other = "other: { model: demo/small, overrides: { models: [large] } }, turns: { model: turns }";
  const open = async (script: ConstructorParameters<typeof ScriptedModel>[0], more: object = {}) => {
    model = Object.assign(new ScriptedModel(script), more);
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config(`{ ${payer}, ${other} }`) }),
      env: {},
      log: silentLog,
      replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
    });
  };
  async function until(run: string, type: RunEvent["type"]): Promise<RunEvent> {
    for await (const batch of host.runs.follow(run)) for (const event of batch) if (event.type === type) return event;
    throw new Error(`no ${type}`);
  }

  it("are stranded while they wait for an agent that is gone, and only then", async () => {
    await open([["done"], [say.call(0, "sum", { expression: "1" })]]);
    const { run: ended } = await host.runs.start({ agent: "other", input: { text: "hi" } });
    await until(ended, "run.finished");
    const request = { agent: "payer", input: { text: "pay" }, session: "s" };
    const { run: asking } = await host.runs.start(request);
    await until(asking, "approval.requested");
    const { run: queued } = await host.runs.start(request);
    await host.journal.enqueue(enqueueing({ run: "run_gone", request: { agent: "gone", input: { text: "" } } }));
    folder.write({ "venturi.yaml": config(`{ ${payer} }`) });
    expect(await host.reload()).to.include({ ok: true });
    const listed = (await host.runs.list({})).runs.map(({ run, state, stranded = false }) => [run, state, stranded]);
    expect(listed).to.have.deep.members([
      [ended, "done", false],
      [asking, "running", false],
      [queued, "ready", false],
      ["run_gone", "ready", true],
    ]);
    for (const [run, , stranded] of listed)
      expect((await host.runs.get(String(run))).stranded ?? false, String(run)).to.equal(stranded);
  });

  it("own what a fork of them needs, and a fork owns nothing that its text only names", async () => {
    await open(Array.from({ length: 5 }, () => ["ok"]));
    const large = "x".repeat(2_000_000);
    const foreign = "y".repeat(2_000_000);
    const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
    const start = async (text: string) => {
      const { run } = await host.runs.start({ agent: "other", input: { text } });
      await until(run, "run.finished");
      return run;
    };
    const stranger = await start(foreign);
    expect((await host.runs.content(stranger, hashOf(foreign))).length).to.equal(foreign.length);
    const run = await start(large);
    const { run: fork } = await host.runs.fork(run, { after: 1 });
    await until(fork, "run.finished");
    await host.runs.remove(run);
    expect(Buffer.from(await host.runs.content(fork, hashOf(large))).toString()).to.equal(large);
    const naming = await start(`see ${hashOf(foreign)}`);
    const { run: named } = await host.runs.fork(naming, { after: 1 });
    expect(await codeOf(host.runs.content(named, hashOf(foreign)))).to.equal("run.content not_found");
  });

  it("take no message that a guard blocks, and take any other as the guard leaves it", async () => {
    await open([[say.call(0, "sum", { expression: "1" })], ["done"]]);
    const { run } = await host.runs.start({ agent: "payer", input: { text: "pay" } });
    const { call } = (await until(run, "approval.requested")) as EventOf<"approval.requested">;
    const send = (text: string) => codeOf(host.runs.signal(run, "message", { text }));
    expect(await send("write to alice@example.com")).to.equal("guard.check content_blocked");
    expect(await send("card 4111 1111 1111 1111")).to.equal("");
    expect(await send("hello")).to.equal("");
    const stored = (await host.journal.signals(run, 0)).map(({ body }) => String(body.text));
    expect(stored).to.have.length(2);
    expect(stored[0]).not.to.include("4111");
    expect(stored[1]).to.equal("hello");
    expect(await host.runs.signal(run, "approve", { call, approved: false })).to.equal(true);
    expect(await host.runs.signal(run, "approve", { call, approved: true })).to.equal(false);
    await until(run, "run.finished");
    const audited = (await host.journal.audits({ run })).records.map(({ action }) => action);
    expect(audited).to.deep.equal(["approval.denied"]);
  });

  it("forked with another model are asked of that", async () => {
    await open([["one"], ["two"]]);
    const { run } = await host.runs.start({ agent: "other", input: { text: "hi" } });
    await until(run, "run.finished");
    const { run: fork } = await host.runs.fork(run, { after: 1, model: "large" });
    await until(fork, "run.finished");
    expect(model.requests.map((request) => request.model)).to.deep.equal(["small", "large"]);
    const { run: same } = await host.runs.fork(run, { after: 1 });
    await until(same, "round.started");
    expect((await host.runs.get(same)).request).not.to.have.property("model");
  });

  it("of one conversation stay with the model that answered it", async () => {
    await open([[say.fail("unavailable")], ["from b"], ["again"]]);
    const said = [];
    for (const text of ["hi", "more"]) {
      const { run } = await host.runs.start({ agent: "turns", input: { text }, session: "s" });
      const { output } = (await until(run, "run.finished")) as EventOf<"run.finished">;
      said.push(output);
    }
    expect(said).to.deep.equal(["from b", "again"]);
    expect(model.requests.map((request) => request.model)).to.deep.equal(["a", "b", "b"]);
  });

  it("are not needed for embeddings, which say what they cost and what did not reach the model", async () => {
    const asked: EmbedRequest[] = [];
    await open([], {
      wire: "w",
      embed: async (request: EmbedRequest) => {
        asked.push(request);
        return { vectors: [[1, 2]], usage: { inputTokens: 500_000 } };
      },
    });
    const embed = (more: object = {}) => host.runs.embed({ agent: "other", input: ["a"], ...more } as never);
    expect(await embed({ compat: "strict" })).to.deep.equal({
      vectors: [[1, 2]],
      usage: { inputTokens: 500_000 },
      cost: 1,
      warnings: [],
    });
    expect(asked[0]).to.deep.equal({ model: "small", input: ["a"] });
    const native = { wire: "elsewhere", fields: { odd: 1, strange: 2 } };
    expect((await embed({ native })).warnings).to.deep.equal(["odd", "strange"]);
    const refused = await embed({ native, compat: "strict" }).catch((thrown: unknown) => thrown);
    expect(refused).to.include({ op: "provider.embed", code: "invalid_input" });
    expect(refused).to.have.deep.property("details", { fields: ["odd", "strange"], param: "odd" });
    expect(asked).to.have.length(2);
  });

  it("cannot be embedded by a model that makes no vectors, or none of numbers", async () => {
    await open([]);
    const embed = () => host.runs.embed({ agent: "other", input: ["a"] } as never);
    expect(await codeOf(embed())).to.equal("provider.embed invalid_input");
    await host.close();
    await open([], { embed: async () => ({ vectors: [[1], [2, Number.NaN]], usage: {} }) });
    expect(await codeOf(embed())).to.equal("provider.embed llm_error");
  });
});

describe("revisions of agents", () => {
  const keptOf = async (agents: readonly AgentDefinition[]) => {
    const journal = memory();
    const frames = new AgentFrames(journal, silentLog);
    for (const agent of agents) frames.keep(agent);
    await new Promise((resolve) => setImmediate(resolve));
    return (await journal.keyValues?.list("venturi.agents"))?.map(({ key }) => key);
  };
  const agent = (more: Partial<AgentDefinition>) => ({ ...agentOf({ model: new ScriptedModel([]) }), ...more });

  it("are kept, unless they are too long to keep", async () => {
    const longest = "n".repeat(500 - "@r1".length);
    const some = [agent({}), agent({}), agent({ revision: "r2" }), agent({ name: longest })];
    const tooLong = [agent({ name: `${longest}n` }), agent({ revision: "r3", instructions: "i".repeat(200_000) })];
    expect(await keptOf([...some, ...tooLong])).to.have.members(["tester@r1", "tester@r2", `${longest}@r1`]);
  });
});
