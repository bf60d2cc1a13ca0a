import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator } from "../../plugins/simulator/server.ts";
import { openVenturi } from "../../src/index.ts";
import { agentContract } from "../../src/testing/agent.ts";

const bases = {
  openai: "/v1",
  "openai-responses": "/v1",
  anthropic: "",
  gemini: "/v1beta",
  ollama: "",
} as const;

for (const [wire, base] of Object.entries(bases)) {
  agentContract(`the simulator over ${wire}`, {
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
        `{ type: ${wire}, apiKey: x, baseUrl: "${simulator.url}${base}", headers: { ${headers} } }`;
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
      const venturi = await openVenturi({ configFile, env: {} });
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
}
