// Small changes of how runs are answered and read that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import { type Log, silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import type { EventOf, RunEvent } from "../../../src/core/run/events.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { checkRequest } from "../../../src/host/runs/check-request.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { agentOf } from "../../agent/harness.ts";
import { testFolder } from "../folder.ts";

const config = (level: string) => `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools:
  sum: { type: calculator, approval: always }
  calculator: { type: calculator }
  ask: { type: ask }
guards:
  mails: { type: rules, find: [email], input: block }
  cards: { type: rules, find: [card], input: redact }
agents:
  payer: { model: demo/small, tools: [sum, calculator] }
  asker: { model: demo/small, tools: [ask], guards: [mails, cards] }
journal: { type: memory }
channels: {}
telemetry: { logs: { level: ${level} } }
`;
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    (thrown: { op: string; code: string }) => `${thrown.op} ${thrown.code}`,
  );

describe("a run that is under way", () => {
  const folder = testFolder();
  let host: Host;
  const lines: string[] = [];
  afterEach(() => host.close());
  const open = async (script: readonly Generation[], level = "info") => {
    lines.length = 0;
    const log: Log = { ...silentLog, debug: (message) => void lines.push(message) };
    const model = new ScriptedModel(script);
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config(level) }),
      env: {},
      log,
      replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
    });
  };
  async function until<T extends RunEvent["type"]>(run: string, type: T): Promise<EventOf<T>> {
    for await (const batch of host.runs.follow(run, { passive: true }))
      for (const event of batch) if (event.type === type) return event as EventOf<T>;
    throw new Error(`no ${type}`);
  }
  const start = async (agent: string) => (await host.runs.start({ agent, input: { text: "go" } })).run;

  it("takes one of two equal answers that come at the same time, and audits that one", async () => {
    await open([[say.call(0, "sum", { expression: "1" })], ["done"]]);
    const run = await start("payer");
    const { call } = await until(run, "approval.requested");
    const answers = [1, 2, 3].map(() => host.runs.signal(run, "approve", { call, approved: true }, "same"));
    expect((await Promise.all(answers)).filter((taken) => taken)).to.have.length(1);
    await until(run, "run.finished");
    const { records } = await host.journal.audits({});
    expect(records.map(({ action }) => action).filter((action) => action.startsWith("approval"))).to.deep.equal([
      "approval.given",
    ]);
  });

  it("takes an answer to its question as the guard leaves it, and none that the guard blocks", async () => {
    await open([[say.call(0, "ask", { question: "Which card?" })], ["done"]]);
    const run = await start("asker");
    const { call } = await until(run, "question.asked");
    const answer = (body: object) => codeOf(host.runs.signal(run, "approve", { call, ...body } as never));
    expect(await answer({ approved: true, answer: "mail alice@example.com" })).to.equal("guard.check content_blocked");
    expect(await answer({ approved: false, answer: "no" })).to.equal("run.signal invalid_input");
    expect(await answer({ approved: true, arguments: {} })).to.equal("run.signal invalid_input");
    expect(await answer({ approved: true, answer: "4111 1111 1111 1111" })).to.equal(true);
    const [stored] = await host.journal.signals(run, 0);
    expect(JSON.stringify(stored?.body)).to.include("[card]").and.not.include("4111");
    await until(run, "run.finished");
  });

  it("may be declined its question without an answer", async () => {
    await open([[say.call(0, "ask", { question: "Which card?" })], ["done"]]);
    const run = await start("asker");
    const { call } = await until(run, "question.asked");
    expect(await codeOf(host.runs.signal(run, "approve", { call, approved: false }))).to.equal(true);
    await until(run, "run.finished");
  });

  it("waits for its reader where it was asked to", async () => {
    const words = Array.from({ length: 3_000 }, (_, n) => `${n} `);
    await open([words]);
    const { run } = await host.runs.start({ agent: "payer", input: { text: "go" } }, { paced: true });
    const reader = host.runs.follow(run)[Symbol.asyncIterator]();
    const first = await reader.next();
    const read: RunEvent[] = first.done ? [] : [...first.value];
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect((await host.runs.get(run)).head - read.length).to.be.lessThan(1_000);
    for (let next = await reader.next(); !next.done; next = await reader.next()) read.push(...next.value);
    const text = read.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("");
    expect(text).to.equal(words.join(""));
  });

  it("has debug lines of its calls where it, or the configuration, asks for them", async () => {
    const calls = () => [[say.call(0, "calculator", { expression: "1+1" })], ["done"]];
    const linesOf = async (level: string, debug: boolean) => {
      await open(calls(), level);
      const { run } = await host.runs.start({ agent: "payer", input: { text: "go" }, ...(debug ? { debug } : {}) });
      await until(run, "run.finished");
      const told = lines.filter((line) => /call/.test(line)).length;
      if (level !== "info" || debug) await host.close();
      return told;
    };
    expect(await linesOf("debug", false)).to.be.greaterThan(0);
    expect(await linesOf("info", true)).to.be.greaterThan(0);
    expect(await linesOf("info", false)).to.equal(0);
  });
});

describe("the context of a request", () => {
  it("is its own, or else the one it was started with, where the agent takes any", () => {
    const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
    const contextOf = (own: unknown, given: unknown, takes = true) => {
      const agent = {
        ...agentOf({ model: new ScriptedModel([]) }),
        ...(takes ? { context: { schema: schema as never } } : {}),
      };
      const request = { agent: "tester", input: { text: "go" }, ...(own === undefined ? {} : { context: own }) };
      return checkRequest(new Map([["tester", agent]]), request, { metadata: 1_000, context: given }).context;
    };
    expect(contextOf({ a: 1 }, { b: 2 })).to.deep.equal({ a: 1 });
    expect(contextOf(undefined, { b: 2 })).to.deep.equal({ b: 2 });
    expect(contextOf(undefined, { b: 2 }, false)).to.equal(undefined);
  });
});
