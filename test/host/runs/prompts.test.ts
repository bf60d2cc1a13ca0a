import { expect } from "chai";
import type { GenerationRequest } from "../../../src/core/model/provider.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import type { Prompt } from "../../../src/core/run/prompt.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { testFolder } from "../folder.ts";

const config = (agents: string) => `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents: ${agents}
journal: { type: memory }
channels: {}
`;
const assistant = "{ model: demo/small, instructions: Be brief., tools: [calculator], options: { temperature: 0.5 } }";
const calls = [say.call(0, "calculator", { expression: "6*7" }), say.done("tool_calls")];

describe("the prompt of a round", () => {
  const folder = testFolder();
  let host: Host;
  let model: ScriptedModel;
  afterEach(() => host.close());

  async function open(script: readonly Generation[], agents = `{ assistant: ${assistant} }`): Promise<void> {
    model = new ScriptedModel(script);
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config(agents) }),
      env: {},
      log: silentLog,
      replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
    });
  }
  async function reload(agents: string): Promise<void> {
    folder.write({ "venturi.yaml": config(agents) });
    expect(await host.reload()).to.include({ ok: true });
  }
  async function ended(run: string): Promise<RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) events.push(...batch);
    return events;
  }
  async function start(request: Partial<RunRequest> = {}): Promise<string> {
    const { run } = await host.runs.start({ agent: "assistant", input: { text: "What is 6*7?" }, ...request });
    await ended(run);
    return run;
  }
  const promptOf = async (run: string, round: number) => (await host.runs.prompt?.(run, round)) as Prompt;
  const asSent = ({ messages, tools, options, toolChoice, output }: GenerationRequest) => ({
    messages,
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    options,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(output === undefined ? {} : { output }),
  });
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
  function expectSent(
    { round: _r, attempt: _a, seq: _s, model: _m, exact: _e, notes: _n, ...shown }: Prompt,
    at: number,
  ) {
    expect(plain(shown)).to.deep.equal(plain(asSent(model.requests[at] as GenerationRequest)));
  }
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => "",
      (thrown: { op: string; code: string }) => `${thrown.op} ${thrown.code}`,
    );

  it("is what its model was sent, round by round and with the conversation before it", async () => {
    await open([calls, ["42."], ["Because."]]);
    const first = await start({ session: "s" });
    const second = await start({ session: "s", input: { text: "Why?" }, options: { temperature: 0.9 } });
    for (const [index, [run, round]] of [[first, 1] as const, [first, 2] as const, [second, 1] as const].entries()) {
      const prompt = await promptOf(run, round);
      const begun = (await ended(run)).find((event) => event.type === "round.started" && event.round === round);
      expect(prompt).to.deep.include({
        round,
        attempt: 1,
        seq: begun?.seq,
        model: "demo/small",
        exact: true,
        notes: [],
      });
      expectSent(prompt, index);
    }
    expect((await promptOf(second, 1)).messages).to.have.length.above(4);
    expect((await promptOf(first, 2)).tools[0]?.parameters).to.have.property("properties");
  });

  it("has the tool choice and the output that were asked for", async () => {
    const schema = {
      type: "object",
      properties: { sum: { type: "number" } },
      required: ["sum"],
      additionalProperties: false,
    };
    await open([['{"sum":42}']]);
    const run = await start({ toolChoice: "none", output: { name: "sum", schema } });
    const prompt = await promptOf(run, 1);
    expectSent(prompt, 0);
    expect([prompt.toolChoice, prompt.output]).to.not.include(undefined);
  });

  it("is that of the agent as it was then, after a reload", async () => {
    await open([calls, ["42."], ["Hello."]]);
    const run = await start();
    await reload("{ assistant: { model: demo/large, instructions: Be long. } }");
    for (const round of [1, 2]) {
      const prompt = await promptOf(run, round);
      expect(prompt).to.deep.include({ exact: true, notes: [], model: "demo/small" });
      expectSent(prompt, round - 1);
    }
    const later = await start({ input: { text: "Hi" } });
    expectSent(await promptOf(later, 1), 2);
    expect((await promptOf(later, 1)).model).to.equal("demo/large");
  });

  it("of a fork has the fork's instructions", async () => {
    await open([calls, ["42."], ["Forty-two."]]);
    const run = await start();
    const after = (await ended(run)).find(({ type }) => type === "round.finished")?.seq ?? 0;
    const { run: fork } = await host.runs.fork(run, { after, instructions: "Use words." });
    await ended(fork);
    expectSent(await promptOf(fork, 2), 2);
    expect(JSON.stringify((await promptOf(fork, 2)).messages[0])).to.include("Use words.");
  });

  it("is that of the round's last attempt", async () => {
    await open([[say.fail("unavailable", "busy", { retryAfter: 0 })], ["42."]]);
    const run = await start();
    expect(await promptOf(run, 1)).to.include({ round: 1, attempt: 2 });
    expectSent(await promptOf(run, 1), 1);
  });

  it("is not known for a round that was not, or an agent that is gone", async () => {
    await open([["42."]]);
    const run = await start();
    expect(await codeOf(promptOf(run, 2))).to.equal("run.prompt not_found");
    expect(await codeOf(promptOf("run_none", 1))).to.equal("run.get not_found");
    await reload("{ other: { model: demo/small } }");
    expect(await codeOf(promptOf(run, 1))).to.equal("run.prompt not_found");
  });

  it("is not exact where the journal has lost the agent's revision", async () => {
    await open([["42."]]);
    const run = await start();
    const { revision = "" } = (await host.runs.get(run)).request;
    expectSent(await promptOf(run, 1), 0);
    const [kept] = (await host.journal.keyValues?.list("venturi.agents")) ?? [];
    expect(kept?.key).to.equal(`assistant@${revision}`);
    await host.journal.keyValues?.remove("venturi.agents", kept?.key ?? "", kept?.version ?? 0);
    expect(await promptOf(run, 1)).to.deep.include({ exact: true, notes: [] });
    await reload("{ assistant: { model: demo/small, instructions: Be long. } }");
    const prompt = await promptOf(run, 1);
    expect(prompt.exact).to.equal(false);
    expect(prompt.notes).to.have.length(1);
    expect(JSON.stringify(prompt.messages[0])).to.include("Be long.");
  });
});
