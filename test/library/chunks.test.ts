import { expect } from "chai";
import type { Chunk, Venturi } from "venturi";
import { type Simulator, startSimulator } from "../../plugins/simulator/server.ts";
import { venturiOf } from "../host/venturi.ts";

const bases = { openai: "/v1", "openai-responses": "/v1", anthropic: "", gemini: "/v1beta", ollama: "" };

const calls = [
  { name: "calculator", arguments: { expression: "6 * 7 + 1000000 - 1000000" } },
  { name: "clock", arguments: {} },
];

describe("chunks of the library", () => {
  let simulator: Simulator;
  let venturi: Venturi;
  before(async () => {
    simulator = await startSimulator({ pace: 1, scenarios: [{ name: "two", turns: [{ calls }, { text: "Done." }] }] });
    const providers = Object.entries(bases).map(
      ([wire, base]) => `  ${wire}: { type: ${wire}, apiKey: x, baseUrl: "${simulator.url}${base}" }`,
    );
    const agents = Object.keys(bases).map((wire) => `  ${wire}: { model: ${wire}/two, tools: [calculator, clock] }`);
    venturi = await venturiOf(`
providers:
${providers.join("\n")}
tools: { calculator: { type: calculator }, clock: { type: clock } }
agents:
${agents.join("\n")}
  object: { model: openai/small, output: { type: object } }
`);
  });
  after(async () => {
    await venturi.close();
    await simulator.close();
  });

  const collect = async (agent: string): Promise<Chunk[]> => {
    const chunks: Chunk[] = [];
    for await (const chunk of venturi.agent(agent).streamExecute("go")) chunks.push(chunk);
    return chunks;
  };

  for (const wire of Object.keys(bases)) {
    it(`show calls in pieces as they stream, then whole, over ${wire}`, async () => {
      const seen = (await collect(wire)).flatMap((chunk) => chunk.toolCalls ?? []);
      for (const [index, { name, arguments: input }] of calls.entries()) {
        const ofCall = seen.filter((call) => call.index === index);
        expect(new Set(ofCall.map(({ id }) => id)), name).to.have.property("size", 1);
        expect(new Set(ofCall.map((call) => call.name))).to.deep.equal(new Set([name]));
        const whole = ofCall.filter((call) => !call.partial);
        expect(whole).to.have.length(1);
        expect(whole[0]).to.deep.include({ arguments: input });
        expect(ofCall.indexOf(whole[0] as never)).to.equal(ofCall.length - 1);
        const text = ofCall.map((call) => (call.partial ? call.argumentsDelta : "")).join("");
        expect(JSON.parse(text || "{}")).to.deep.equal(input);
      }
      // These wires send arguments in several pieces.
      if (["openai", "openai-responses", "anthropic"].includes(wire)) {
        expect(seen.filter((call) => call.partial && call.argumentsDelta !== "").length).to.be.above(1);
      }
    });
  }

  it("say when they happened, how long after the start, and how long after the one before", async () => {
    const before = Date.now();
    const chunks = await collect("openai");
    const after = Date.now();
    const [first] = chunks;
    expect(first?.metadata).to.include({ sinceStartMs: 0, gapMs: 0, seq: 1 });
    chunks.forEach(({ metadata }, index) => {
      const { run, at, sinceStartMs, gapMs } = metadata;
      expect(run).to.equal(first?.metadata.run);
      expect(at).to.be.within(before - 2, after + 2); // two clocks;
      expect(sinceStartMs).to.equal(at - (first?.metadata.at ?? 0));
      expect(gapMs).to.equal(at - (chunks[index - 1]?.metadata.at ?? at));
    });
    expect(chunks.find(({ content }) => content)?.metadata.round).to.equal(2);
    expect(chunks.at(-1)?.metadata.sinceStartMs).to.be.above(0);
  });

  it("end with the return values in finish", async () => {
    const last = (await collect("openai")).at(-1);
    expect(last?.finish).to.deep.include({ reason: "stop", output: "Done.", rounds: 2 });
    expect(last?.finish?.usage.outputTokens).to.be.above(0);
    const { run, toolCalls, ...finish } = await venturi.agent("openai").execute("go");
    expect(toolCalls.map(({ name }) => name)).to.deep.equal(["calculator", "clock"]);
    expect(run).to.match(/^run_/);
    expect(finish).to.have.all.keys("reason", "output", "usage", "rounds", "timing");
  });
});
