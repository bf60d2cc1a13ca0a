import { expect } from "chai";
import type { Chunk, RunEvent, Venturi } from "venturi";
import { type Simulator, startSimulator } from "../../plugins/simulator/server.ts";
import { venturiOf } from "../host/venturi.ts";

const scenarios = [
  { name: "asker", turns: [{ text: "Asking.", calls: [{ name: "helper", arguments: { task: "think" } }] }] },
  {
    name: "deep",
    turns: [{ calls: [{ name: "again", arguments: { task: "deeper" } }] }, { text: "Up again." }],
  },
];

const yaml = (url: string) => `
providers:
  up: { type: openai, apiKey: x, baseUrl: "${url}/v1" }
  bad: { type: openai, apiKey: x, baseUrl: "${url}/v1", headers: { "x-simulate-fault": "cut@600" } }
tools:
  calculator: { type: calculator }
  helper: { type: agent, agent: thinker }
  again: { type: agent, agent: deep, maxDepth: 2 }
models: { bad: { chain: [bad/echo], retry: { max: 0 } } }
agents:
  assistant: { model: up/small, tools: [calculator] }
  strict: { model: up/small, tools: [calculator], limits: { onLimit: error } }
  echo: { model: up/echo }
  failing: { model: bad }
  asker: { model: up/asker, tools: [helper] }
  plain: { model: up/small }
  thinker: { model: "up/count-5!stall@2" }
  deep: { model: up/deep, tools: [again] }
`;

const collect = async (stream: AsyncIterable<Chunk>): Promise<Chunk[]> => {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};

describe("the library face", () => {
  let simulator: Simulator;
  let venturi: Venturi;

  before(async () => {
    simulator = await startSimulator({ pace: 0, scenarios });
    venturi = await venturiOf(yaml(simulator.url));
  });
  after(async () => {
    await venturi.close();
    await simulator.close();
  });

  const lastBody = () => JSON.stringify(simulator.requests.at(-1)?.body);
  const eventsOf = async (run: string): Promise<RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const batch of venturi.runs.follow(run)) events.push(...batch);
    return events;
  };

  it("a plan is decided from the steps taken, which the model gets as calls and their results", async () => {
    const steps = [{ name: "calculator", arguments: { expression: "6 * 7" }, observation: "42" }];
    const chunks = await collect(venturi.agent("assistant").streamPlan(steps, "What is 6 * 7?"));
    expect(lastBody()).to.contain("6 * 7").and.to.contain('"42"').and.to.contain('"role":"tool"');
    expect(chunks.at(-1)).to.have.nested.property("action.type", "answer");
    expect(chunks.at(-1)?.finish?.reason).to.equal("stop");
  });

  it("a plan that decides on a call ends well, also for an agent whose limits are errors", async () => {
    for (const name of ["assistant", "strict"]) {
      const chunks = await collect(venturi.agent(name).streamPlan([], "What is 6 * 7?"));
      expect(chunks.at(-1)?.finish?.reason, name).to.equal("tool_calls");
      expect(chunks.at(-1)?.action).to.deep.include({ type: "call", name: "calculator" });
      expect(chunks.filter((chunk) => chunk.err ?? chunk.finish)).to.have.length(1);
    }
  });

  it("a plan refuses blank inputs before anything streams", async () => {
    for (const steps of [[], [{ name: "calculator", arguments: {}, observation: "" }]]) {
      const error = await collect(venturi.agent("assistant").streamPlan(steps, " ")).catch((thrown: unknown) => thrown);
      expect(error).to.have.property("code", "invalid_input");
    }
  });

  it("execute rejects with the run's own error", async () => {
    const words = "a long text that is echoed word by word until the connection is cut ".repeat(20);
    const error = await venturi
      .agent("failing")
      .execute(words)
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property("code", "stream_error");
  });

  it("an abort while the run is being started ends it", async () => {
    const controller = new AbortController();
    const stream = venturi.agent("thinker").streamExecute("go", { signal: controller.signal });
    const reading = collect(stream);
    controller.abort(); // after the first look at the signal, before the run is stored
    const chunks = await reading;
    expect(chunks.at(-1)?.err?.code).to.equal("stream_interrupted");
  });

  it("a cancel reaches the agent that was called as a tool, and its run ends too", async () => {
    const controller = new AbortController();
    let child = "";
    const chunks: Chunk[] = [];
    for await (const chunk of venturi.agent("asker").streamExecute("go", { signal: controller.signal })) {
      chunks.push(chunk);
      if (chunk.action?.type !== "tool.output" || !("text" in chunk.action)) continue;
      child ||= /run (\S+)/.exec(chunk.action.text ?? "")?.[1] ?? "";
      controller.abort();
    }
    expect(chunks.at(-1)?.err?.code).to.equal("stream_interrupted");
    const events = await eventsOf(child);
    expect(events[0]).to.have.nested.property("parent.depth", 1);
    expect(events.at(-1)).to.have.nested.property("error.code", "stream_interrupted");
  });

  it("agents call agents no deeper than they may, which the model sees", async () => {
    const { output, run } = await venturi.agent("deep").execute("go");
    expect(output).to.equal("Up again.");
    const depths: number[] = [];
    for (let at: string | undefined = run; at !== undefined; ) {
      const events: RunEvent[] = await eventsOf(at);
      const [first] = events;
      depths.push(first?.type === "run.started" ? (first.parent?.depth ?? 0) : -1);
      const told: RunEvent | undefined = events.find(({ type }) => type === "tool.output");
      at = told?.type === "tool.output" ? /run (\S+)/.exec(told.text)?.[1] : undefined;
      if (at === undefined) {
        expect(events.find(({ type }) => type === "tool.finished")).to.have.nested.property(
          "error.code",
          "tool_denied",
        );
      }
    }
    expect(depths).to.deep.equal([0, 1, 2]);
  });

  describe("sessions", () => {
    it("go on after a run that failed, with what it had said", async () => {
      const session = "broken";
      await venturi.agent("echo").execute("first words", { session });
      const long = "second words ".repeat(80);
      await venturi
        .agent("failing")
        .execute(long, { session })
        .catch(() => undefined);
      await venturi.agent("echo").execute("third words", { session });
      const { messages } = JSON.parse(lastBody()) as { messages: { role: string; content: string }[] };
      expect(messages.map(({ role }) => role)).to.deep.equal(["user", "assistant", "user", "assistant", "user"]);
      expect(messages[3]?.content).to.match(/^second/);
      expect(messages[4]?.content).to.equal("third words");
    });

    it("run in parallel, each with its own history", async () => {
      const names = Array.from({ length: 8 }, (_, index) => `parallel-${index}`);
      for (const turn of ["one", "two", "three"]) {
        await Promise.all(names.map((session) => venturi.agent("echo").execute(`${session} ${turn}`, { session })));
      }
      const bodies = simulator.requests.slice(-names.length).map(({ body }) => JSON.stringify(body));
      for (const name of names) {
        const mine = bodies.filter((body) => body.includes(name));
        expect(mine).to.have.length(1);
        expect(names.filter((other) => mine[0]?.includes(other))).to.deep.equal([name]);
        for (const turn of ["one", "two", "three"]) expect(mine[0]).to.contain(`${name} ${turn}`);
      }
    });

    it("take back a call that was left to the client together with its result, each once", async () => {
      const session = "client";
      const parameters = { type: "object", properties: { expression: { type: "string" } } };
      const clientTools = [{ name: "calculator", description: "calculates", parameters }];
      const asked = { agent: "plain", session, clientTools };
      const { run } = await venturi.runs.start({ ...asked, input: { text: "What is 6 * 7?" } });
      const end = (await eventsOf(run)).at(-1);
      const [left] = end?.type === "run.finished" ? (end.calls ?? []) : [];
      if (left === undefined) return expect.fail(JSON.stringify(end));
      const { call, name } = left;
      const second = await venturi.runs.start({
        ...asked,
        input: {
          messages: [
            { role: "assistant", parts: [{ type: "tool_call", call, name, arguments: left.arguments }] },
            { role: "tool", parts: [{ type: "tool_result", call, name, ok: true, output: "42" }] },
          ],
        },
      });
      expect((await eventsOf(second.run)).at(-1)).to.include({ type: "run.finished", finish: "stop" });
      expect(lastBody().split(`"${call}"`)).to.have.length(3); // the call and its result
    });

    it("lose no run to others that were cancelled while they waited for it", async () => {
      const session = "queue";
      const start = (agent: string, text: string) => venturi.runs.start({ agent, input: { text }, session });
      const { run } = await start("thinker", "the first question");
      for (const text of ["second", "third"]) {
        const waiting = await start("echo", text);
        await venturi.runs.cancel(waiting.run);
      }
      await venturi.runs.cancel(run);
      await venturi.agent("echo").execute("the last question", { session });
      expect(lastBody()).to.contain("the first question").and.to.contain("the last question");
      const told = lastBody().split("the first question").length - 1;
      expect(told).to.equal(1);
    });
  });
});
