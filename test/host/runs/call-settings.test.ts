import { on, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import WebSocket from "ws";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { type ExecuteOptions, NamedAgent } from "../../../src/library/named-agent.ts";
import { allSse } from "../../sse.ts";

type Body = Record<string, unknown>;

/** Where a wire has what the four layers of options say, and the tools and the choice of the call. */
const wires: Readonly<
  Record<string, { base: string; sampling(body: Body): unknown[]; choice: unknown; tools(body: Body): unknown }>
> = {
  openai: {
    base: "/v1",
    sampling: (body) => [body.temperature, body.top_p, body.max_completion_tokens ?? body.max_tokens],
    choice: { type: "function", function: { name: "pick" } },
    tools: ({ tools }) => names(tools, (tool) => (tool.function as Body).name),
  },
  "openai-responses": {
    base: "/v1",
    sampling: (body) => [body.temperature, body.top_p, body.max_output_tokens],
    choice: { type: "function", name: "pick" },
    tools: ({ tools }) => names(tools, (tool) => tool.name),
  },
  anthropic: {
    base: "",
    sampling: (body) => [body.temperature, body.top_p, body.max_tokens],
    choice: { type: "tool", name: "pick" },
    tools: ({ tools }) => names(tools, (tool) => tool.name),
  },
  gemini: {
    base: "/v1beta",
    sampling: ({ generationConfig }) => {
      const { temperature, topP, maxOutputTokens } = generationConfig as Body;
      return [temperature, topP, maxOutputTokens];
    },
    choice: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["pick"] } },
    tools: ({ tools }) => names((tools as Body[])[0]?.functionDeclarations, (tool) => tool.name),
  },
  ollama: {
    base: "",
    sampling: ({ options }) => {
      const { temperature, top_p, num_predict } = options as Body;
      return [temperature, top_p, num_predict];
    },
    choice: undefined, // has none: only the tool that must be called is offered
    tools: ({ tools }) => names(tools, (tool) => (tool.function as Body).name),
  },
};
const names = (tools: unknown, nameOf: (tool: Body) => unknown) => (tools as Body[]).map(nameOf);

const config = (url: string) => `
providers:
${Object.entries(wires)
  .map(([wire, { base }]) => `  ${wire}: { type: ${wire}, apiKey: x, baseUrl: "${url}${base}" }`)
  .join("\n")}
defaults: { options: { temperature: 0.1, topP: 0.1, maxTokens: 111, layer: defaults } }
tools: { calculator: { type: calculator } }
models:
${Object.keys(wires)
  .map((wire) => `  ${wire}: { chain: [${wire}/small], options: { topP: 0.2, maxTokens: 222, layer: model } }`)
  .join("\n")}
  other: { chain: [openai/other] }
agents:
${Object.keys(wires)
  .map(
    (wire) =>
      `  ${wire}: { model: ${wire}, tools: [calculator], options: { maxTokens: 333, layer: agent }, overrides: { models: [other], options: [layer] } }`,
  )
  .join("\n")}
  closed: { model: openai, inputs: { customer: { type: string }, level: { type: number, default: 1 } } }
journal: { type: memory }
channels: { http: {}, websocket: {} }
server: { listen: 0 }
`;

const pick = {
  name: "pick",
  description: "Picks a thing.",
  parameters: { type: "object", properties: { thing: { type: "string" } } },
};

describe("what a call says for itself", () => {
  let folder: string;
  let simulator: Simulator;
  let service: Service;
  before(async () => {
    simulator = await startSimulator({ pace: 0, scenarios: [{ name: "other", turns: [{ text: "Other." }] }] });
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    const configFile = join(folder, "venturi.yaml");
    await writeFile(configFile, config(simulator.url));
    service = await openService({ configFile, log: silentLog, telemetry: noTelemetry });
  });
  after(async () => {
    await service.drain();
    await simulator.close();
    await rm(folder, { recursive: true });
  });

  const sent = () => simulator.requests.at(-1)?.body as Body;

  /** The three ways to make a call; each answers with the calls that were left to the client. */
  const faces: Readonly<Record<string, (agent: string, settings: ExecuteOptions) => Promise<unknown>>> = {
    "the library": async (agent, settings) =>
      (await new NamedAgent(agent, service.host.runs).execute("Hello", settings)).toolCalls,
    "POST /v1/runs": async (agent, settings) => {
      const response = await fetch(`${service.url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ agent, input: "Hello", ...settings }),
      });
      if (!response.ok) throw ((await response.json()) as { error: unknown }).error;
      return callsOf((await allSse(response)).map(({ data }) => JSON.parse(data) as RunEvent));
    },
    "the WebSocket": async (agent, settings) => {
      const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
      await once(socket, "open");
      try {
        const messages = on(socket, "message");
        socket.send(JSON.stringify({ type: "run", agent, input: "Hello", ...settings }));
        for await (const [data] of messages as AsyncIterable<[Buffer]>) {
          const message = JSON.parse(String(data)) as Body;
          if (message.type === "stream_error") throw message.error;
          if (message.type === "stream_end") return message.calls ?? [];
        }
        return [];
      } finally {
        socket.close();
      }
    },
  };
  const callsOf = (events: readonly RunEvent[]) => {
    const last = events.at(-1);
    return last?.type === "run.finished" ? (last.calls ?? []) : [];
  };
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );

  for (const [wire, { sampling, choice, tools }] of Object.entries(wires)) {
    it(`options are merged in the order defaults, model, agent, call on the wire of ${wire}`, async () => {
      await new NamedAgent(wire, service.host.runs).execute("Hello");
      expect(sampling(sent())).to.deep.equal([0.1, 0.2, 333]);
      expect(sent()).to.include({ layer: "agent" });
      await new NamedAgent(wire, service.host.runs).execute("Hello", { options: { layer: "call", topP: 0.4 } });
      expect(sampling(sent())).to.deep.equal([0.1, 0.4, 333]);
      expect(sent()).to.include({ layer: "call" });
      await new NamedAgent(wire, service.host.runs).execute("Hello", { options: { temperature: null } });
      expect(sampling(sent())).to.deep.equal([undefined, 0.2, 333]);
    });

    it(`a call's own tools and choice are sent on the wire of ${wire}, and its calls come back`, async () => {
      for (const [name, call] of Object.entries(faces)) {
        const calls = (await call(wire, { tools: [pick], toolChoice: { name: "pick" } })) as Body[];
        // Ollama can't be made to call one.
        if (choice !== undefined) expect(calls.map((each) => each.name)).to.deep.equal(["pick"]);
        const { tool_choice, toolConfig } = sent();
        expect(tool_choice ?? toolConfig, name).to.deep.equal(choice);
        expect(tools(sent()), name).to.deep.equal(choice === undefined ? ["pick"] : ["calculator", "pick"]);
      }
    });
  }

  for (const [name, call] of Object.entries(faces)) {
    it(`the model may be chosen where the agent allows it, through ${name}`, async () => {
      await call("gemini", { model: "other" });
      expect(sent()).to.include({ model: "other" });
      const refused = await failure(call("gemini", { model: "anthropic" }));
      expect(refused).to.include({ code: "forbidden" });
      expect(await failure(call("closed", { model: "other" }))).to.include({ code: "forbidden" });
    });

    it(`what does not fit is refused before anything streams, through ${name}`, async () => {
      const before = simulator.requests.length;
      const wrong: Record<string, unknown>[] = [
        { options: { temperature: "hot" } },
        { options: { messages: [] } },
        { options: { tools: [] } },
        { options: "fast" },
        { toolChoice: { name: "nothing" } },
        { toolChoice: "always" },
        { tools: [pick, pick] },
        { tools: [{ description: "nameless" }] },
        { tools: "pick" },
        { optoins: {} },
      ];
      for (const settings of wrong) {
        const refused = await failure(call("openai", settings as ExecuteOptions));
        expect(refused, JSON.stringify(settings)).to.include({ code: "invalid_input" });
      }
      expect(simulator.requests.length).to.equal(before);
    });
  }

  it("a plan takes them too", async () => {
    const chunks = [];
    const settings: ExecuteOptions = { options: { topP: 0.9 }, tools: [pick], toolChoice: "required" };
    for await (const chunk of new NamedAgent("openai", service.host.runs).streamPlan([], "Hello", settings))
      chunks.push(chunk);
    expect(sent()).to.include({ top_p: 0.9, tool_choice: "required" });
    expect(chunks.at(-1)?.action).to.include({ type: "call" });
  });

  it("an Idempotency-Key with other settings is another request", async () => {
    const post = (settings: ExecuteOptions) =>
      fetch(`${service.url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "one" },
        body: JSON.stringify({ agent: "openai", input: "Hello", ...settings }),
      });
    expect((await post({ options: { seed: 1 } })).status).to.equal(200);
    expect((await post({ options: { seed: 1 } })).status).to.equal(200);
    expect((await post({ options: { seed: 2 } })).status).to.equal(409);
  });

  it("OpenAPI and the list of agents tell what a call may say", async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Record<string, unknown>;
    for (const key of ["model", "options", "tools", "toolChoice"]) {
      expect(document).to.have.nested.property(`components.schemas.StartRequest.properties.${key}`);
    }
    const agents = service.host.runs.agents();
    expect(agents.find(({ name }) => name === "gemini")?.models).to.deep.equal(["other"]);
    expect(agents.find(({ name }) => name === "closed")?.inputs).to.deep.include({ required: ["customer"] });
  });
});
