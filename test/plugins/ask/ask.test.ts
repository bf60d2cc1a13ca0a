import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { EventOf, RunEvent } from "../../../src/core/run/events.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { openService } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";

interface Setup {
  /** What the model asks. */
  readonly asks: Record<string, unknown>;
  readonly options?: string;
  readonly server?: string;
}

const config = ({ asks, options = "", server = "channels: {}" }: Setup) => `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: planner
        turns: [{ calls: [{ name: ask, arguments: ${JSON.stringify(asks)} }] }, { text: "Noted." }]
      - name: boss
        turns: [{ calls: [{ name: planner, arguments: { task: "plan" } }] }, { text: "All done." }]
tools:
  ask: { type: ask${options} }
  planner: { type: agent, agent: planner }
agents:
  planner: { model: demo/planner, tools: [ask], description: Plans }
  boss: { model: demo/boss, tools: [planner] }
journal: { type: sqlite, path: ./runs.db }
telemetry: off
${server}
`;

const days = { question: "Which day?", choices: ["Monday", "Tuesday"] };

describe("the tool ask", () => {
  const folder = testFolder();
  const open = new Set<{ close(): Promise<unknown> }>();

  afterEach(async () => {
    for (const each of open) await each.close();
    open.clear();
  });

  async function host(setup: Setup): Promise<Host> {
    const opened = await openHost({
      configFile: folder.write({ "venturi.yaml": config(setup) }),
      env: {},
      log: silentLog,
    });
    open.add(opened);
    return opened;
  }

  async function until<Type extends RunEvent["type"]>(from: Host, run: string, type: Type): Promise<EventOf<Type>> {
    for await (const batch of from.runs.follow(run)) {
      for (const event of batch) if (event.type === type) return event as EventOf<Type>; // by its type
    }
    throw new Error(`there was no ${type}`);
  }

  const answer = (from: Host, run: string, call: string, body: Record<string, unknown>) =>
    from.runs.signal(run, "approve", { call, approved: true, ...body }).then(
      (taken) => (taken ? "taken" : "not taken"),
      (thrown) => `${thrown.code}: ${thrown.message}`,
    );

  it("gives the model the answer, which has to be one of the choices", async () => {
    const here = await host({ asks: days });
    const { run } = await here.runs.start({ agent: "planner", input: { text: "plan" } });
    const { call, kind, message, choices } = await until(here, run, "question.asked");
    expect({ kind, message, choices }).to.deep.equal({
      kind: "input",
      message: "Which day?",
      choices: ["Monday", "Tuesday"],
    });
    expect(await here.runs.pending(run)).to.have.length(1);
    expect(await answer(here, run, call, { answer: "Sunday" })).to.match(/^invalid_input: .*one of: Monday, Tuesday/);
    expect(await answer(here, run, call, {})).to.equal("invalid_input: answer: is missing");
    expect(await answer(here, run, call, { answer: "Monday", for: "run" })).to.match(/^invalid_input: for: /);
    expect(await answer(here, run, call, { answer: "Monday", by: "ada" })).to.equal("taken");
    expect(await answer(here, run, call, { answer: "Tuesday" })).to.equal("not taken");
    await until(here, run, "run.finished");
    const given = await until(here, run, "question.answered");
    expect(given).to.include({ answered: true, answer: "Monday", by: "ada" });
    expect((await until(here, run, "tool.finished")).output).to.equal("Monday");
    expect(await here.runs.pending(run)).to.deep.equal([]);
  });

  it("checks a form by its fields", async () => {
    const here = await host({ asks: { question: "Who comes?", fields: { name: "text", seats: "number" } } });
    const { run } = await here.runs.start({ agent: "planner", input: { text: "plan" } });
    const { call } = await until(here, run, "question.asked");
    expect(await answer(here, run, call, { answer: "Ada" })).to.match(/^invalid_input: answer/);
    expect(await answer(here, run, call, { answer: { name: "Ada", seats: "two" } })).to.match(
      /^invalid_input: answer.*seats/,
    );
    expect(await answer(here, run, call, { answer: { name: "Ada", seats: 2 } })).to.equal("taken");
    await until(here, run, "run.finished");
    expect((await until(here, run, "tool.finished")).output).to.equal('{"name":"Ada","seats":2}');
  });

  it("tells the model when nobody wants to answer", async () => {
    const here = await host({ asks: { question: "Why?" } });
    const { run } = await here.runs.start({ agent: "planner", input: { text: "plan" } });
    const { call } = await until(here, run, "question.asked");
    await here.runs.signal(run, "approve", { call, approved: false, reason: "not my business" });
    await until(here, run, "run.finished");
    expect((await until(here, run, "tool.finished")).output).to.match(/^There is no answer: not my business/);
    expect(await until(here, run, "question.answered")).to.include({ answered: false });
  });

  it("takes its fallback when the time is up", async () => {
    const here = await host({ asks: { question: "Why?" }, options: ", wait: 20ms, fallback: because" });
    const { run } = await here.runs.start({ agent: "planner", input: { text: "plan" } });
    await until(here, run, "run.finished");
    expect((await until(here, run, "tool.finished")).output).to.equal("because");
  });

  it("waits over a restart, and the answer that came in between is found", async () => {
    const first = await host({ asks: days });
    const { run } = await first.runs.start({ agent: "planner", input: { text: "plan" } });
    const { call } = await until(first, run, "question.asked");
    await first.close();
    open.delete(first);
    const second = await host({ asks: days });
    expect((await second.runs.pending(run)).map(({ kind }) => kind)).to.deep.equal(["input"]);
    expect(await answer(second, run, call, { answer: "Tuesday" })).to.equal("taken");
    await second.close();
    open.delete(second);
    const third = await host({ asks: days });
    await until(third, run, "run.finished");
    const events: RunEvent[] = [];
    for await (const batch of third.runs.follow(run)) events.push(...batch);
    expect(events.filter(({ type }) => type === "question.asked")).to.have.length(1);
    expect((await until(third, run, "tool.finished")).output).to.equal("Tuesday");
  });

  it("of a called agent reaches whoever follows its caller", async () => {
    const here = await host({ asks: days });
    const { run } = await here.runs.start({ agent: "boss", input: { text: "go" } });
    const { call, origin, message } = await until(here, run, "question.asked");
    expect({ agent: origin?.agent, message }).to.deep.equal({ agent: "planner", message: "Which day?" });
    expect(await answer(here, run, call, { answer: "Sunday" })).to.match(/^invalid_input/);
    expect(await answer(here, run, call, { answer: "Monday" })).to.equal("taken");
    await until(here, run, "run.finished");
    expect((await until(here, origin?.run ?? "", "tool.finished")).output).to.equal("Monday");
  });

  it("is listed and answered over HTTP, apart from approvals", async () => {
    const server = 'channels: { http: { type: channel-http } }\nserver: { listen: "127.0.0.1:0" }';
    const configFile = folder.write({ "venturi.yaml": config({ asks: days, server }) });
    const service = await openService({ configFile, env: {}, log: silentLog });
    open.add({ close: () => service.drain() });
    const ask = async (path: string, body?: unknown): Promise<{ status: number; json: Record<string, never> }> => {
      const sent = { method: "POST", headers: { "content-type": "application/json", prefer: "respond-async" } };
      const init = body === undefined ? {} : { ...sent, body: JSON.stringify(body) };
      const response = await fetch(`${service.url}${path}`, init);
      return { status: response.status, json: (await response.json()) as Record<string, never> }; // read by field below
    };
    const { json } = await ask("/v1/runs", { agent: "planner", input: "plan" });
    const run = String(json.run);
    for await (const batch of service.host.runs.follow(run)) if (batch.at(-1)?.type === "question.asked") break;
    const { questions } = (await ask("/v1/questions")).json as unknown as { questions: Record<string, unknown>[] };
    expect(questions).to.have.length(1);
    expect(questions[0]).to.include({ run, agent: "planner", kind: "input", message: "Which day?" });
    expect((await ask("/v1/approvals")).json).to.deep.equal({ approvals: [] });
    const path = `/v1/runs/${run}/questions/${questions[0]?.call}`;
    expect((await ask(path, { answer: "Sunday" })).status).to.equal(400);
    expect((await ask(path, { answer: "Tuesday" })).status).to.equal(202);
    expect((await ask(path, { answer: "Monday" })).status).to.equal(409);
  });
});
