import { strict as assert } from "node:assert";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVenturi } from "venturi";
import { startSimulator } from "../../plugins/simulator/server.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import {
  type AgentChunk,
  type AgentSubject,
  type AgentUnderTest,
  agentCases,
  agentContract,
  type OpenedAgents,
} from "../../src/testing/agent.ts";

const bases = {
  openai: "/v1",
  "openai-responses": "/v1",
  anthropic: "",
  gemini: "/v1beta",
  ollama: "",
} as const;

const subjectOf = (wire: keyof typeof bases): AgentSubject => ({
  plain: "Hello, who are you?",
  tool: { prompt: "What is 17 * 3?", name: "calculator" },
  long: "count",
  open: async () => {
    const simulator = await startSimulator({
      pace: 1,
      scenarios: [{ name: "long", match: { text: "^count$" }, turns: [{ text: "word ".repeat(2_000) }] }],
    });
    const folder = await mkdtemp(join(tmpdir(), "venturi-"));
    const configFile = join(folder, "venturi.yaml");
    const provider = (headers: string) =>
      `{ type: ${wire}, apiKey: x, baseUrl: "${simulator.url}${bases[wire]}", headers: { ${headers} } }`;
    await writeFile(
      configFile,
      `
version: 1
providers:
  up: ${provider("")}
  bad: ${provider('"x-simulate-fault": "cut@260"')}
tools: { calculator: { type: calculator } }
models:
  bad: { chain: [bad/small], retry: { max: 0 } }
agents:
  good: { model: up/small, tools: [calculator] }
  failing: { model: bad, tools: [calculator] }
journal: { type: memory }
channels: {}
telemetry: off
`,
    );
    const venturi = await openVenturi({ configFile, env: {}, log: silentLog });
    return {
      agent: venturi.agent("good"),
      failing: venturi.agent("failing"),
      openRequests: () =>
        simulator.requests.filter(
          ({ endedAfter, closedByClient }) => endedAfter === undefined && closedByClient === undefined,
        ).length,
      close: async () => {
        await venturi.close();
        await simulator.close();
        await rm(folder, { recursive: true });
      },
    };
  },
});

for (const wire of Object.keys(bases) as (keyof typeof bases)[]) {
  agentContract(`the simulator over ${wire}`, subjectOf(wire));
}

type Stream = AsyncIterable<AgentChunk>;
const mapped = async function* (stream: Stream, change: (chunk: AgentChunk) => AgentChunk | undefined): Stream {
  for await (const chunk of stream) {
    const changed = change(chunk);
    if (changed) yield changed;
  }
};

/** Agents that break one promise each, in the order of `agentCases`. */
const broken: readonly ((agent: AgentUnderTest) => Partial<AgentUnderTest>)[] = [
  (agent) => ({
    streamExecute: (...call) =>
      mapped(agent.streamExecute(...call), (chunk) => ({
        ...chunk,
        metadata: { ...chunk.metadata, seq: -chunk.metadata.seq },
      })),
  }),
  (agent) => ({
    streamExecute: (...call) =>
      mapped(agent.streamExecute(...call), ({ toolCalls = [], ...chunk }) => ({
        ...chunk,
        toolCalls: toolCalls.filter(({ partial }) => !partial),
      })),
  }),
  (agent) => ({ streamPlan: (_steps, inputs, options) => agent.streamExecute(inputs, options) }),
  (agent) => ({
    streamExecute: (...call) => mapped(agent.streamExecute(...call), (chunk) => (chunk.err ? undefined : chunk)),
  }),
  (agent) => ({
    streamExecute: (...call) =>
      mapped(agent.streamExecute(...call), (chunk) =>
        chunk.finish ? { ...chunk, finish: { ...chunk.finish, output: "" } } : chunk,
      ),
  }),
  (agent) => ({ streamExecute: (inputs, options) => agent.streamExecute(inputs || "something", options) }),
  (agent) => ({ streamExecute: (inputs) => agent.streamExecute(inputs) }),
  (agent) => ({
    async *streamExecute(...call) {
      await new Promise((resolve) => setTimeout(resolve, 600));
      yield* agent.streamExecute(...call);
    },
  }),
  (agent) => ({
    streamExecute: (...call) =>
      mapped(agent.streamExecute(...call), (chunk) => ({ ...chunk, metadata: { ...chunk.metadata, run: "one" } })),
  }),
];

describe("the agent contract", () => {
  const subject = subjectOf("openai");
  let opened: OpenedAgents;
  before(async () => {
    opened = await subject.open();
  });
  after(() => opened.close());

  const around = (agent: AgentUnderTest, change: Partial<AgentUnderTest>): AgentUnderTest => ({
    streamExecute: (inputs, options) => agent.streamExecute(inputs, options),
    streamPlan: (steps, inputs, options) => agent.streamPlan(steps, inputs, options),
    execute: (inputs) => agent.execute(inputs),
    ...change,
  });

  it("has a broken agent for each of its cases", () => {
    assert.equal(broken.length, agentCases.length);
  });

  for (const [index, { name, check }] of agentCases.entries()) {
    it(`fails an agent that breaks: ${name}`, async () => {
      const breaks = broken[index] ?? (() => ({}));
      const agent = around(opened.agent, breaks(opened.agent));
      const failing = around(opened.failing, breaks(opened.failing));
      await check(opened, subject);
      await assert.rejects(check({ ...opened, agent, failing }, subject));
    });
  }
});
