import { expect } from "chai";
import { createTelemetry, openVenturi, type Venturi } from "venturi";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { Provider } from "../../../src/core/model/provider.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { testFolder } from "../../host/folder.ts";
import { OpenSpans } from "../../telemetry/open-spans.ts";

/** Directions of meaning, by words that share none. */
const directions = [
  ["dog", "puppy", "wolf"],
  ["tea", "beverage", "drink"],
  ["car", "vehicle"],
];
const vectorOf = (text: string): number[] =>
  directions.map((words) => words.filter((word) => text.toLowerCase().includes(word)).length + 0.01);

const config = `
version: 1
prices: { "embedder/small": { input: 1000, output: 0 } }
memories:
  notes: { type: memory, embed: embedder/small, near: 0.5 }
tools:
  memorize: { type: memorize, store: notes }
  recall: { type: recall, store: notes }
agents:
  keeper:
    model: scripted/keeper
    tools: [memorize, recall]
    memory: { recall: { store: notes, top: 1 } }
journal: { type: memory }
channels: {}
`;

describe("a memory with vectors", () => {
  const folder = testFolder();
  let venturi: Venturi | undefined;
  afterEach(() => venturi?.close());

  async function open(script: readonly Generation[]) {
    const spans = new OpenSpans();
    const telemetry = await createTelemetry({ logs: { level: "silent" } }, { spanProcessors: [spans] });
    const asked: (readonly unknown[])[] = [];
    const state = { fails: false };
    const embedder: Provider = {
      ...new ScriptedModel([]),
      capabilities: new ScriptedModel([]).capabilities,
      async embed({ input }) {
        asked.push(input);
        if (state.fails) throw new VenturiError("provider.embed", "unavailable", "it is down");
        return { vectors: input.map((text) => vectorOf(String(text))), usage: { inputTokens: 7 } };
      },
    };
    const providers = [
      { name: "scripted", provider: new ScriptedModel(script) },
      { name: "embedder", provider: embedder },
    ];
    const configFile = folder.write({ "venturi.yaml": config });
    venturi = await openVenturi({ configFile, env: {}, providers, telemetry });
    const opened = venturi;
    const run = async (text: string): Promise<RunEvent[]> => {
      const { run: id } = await opened.runs.start({ agent: "keeper", input: { text }, metadata: { user: "ana" } });
      const events: RunEvent[] = [];
      for await (const batch of opened.runs.follow(id)) events.push(...batch);
      return events;
    };
    return { run, asked, state, spans, telemetry };
  }
  const keep = (text: string, id: string): Generation => [say.call(0, "memorize", { text }, id)];
  const found = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "memory.recalled" ? [event] : []));

  it("finds by meaning what shares no word, tells what that cost, and measures each operation", async () => {
    const script = [
      keep("She has a puppy", "a"),
      keep("She owns a vehicle", "b"),
      ["ok"],
      [say.call(0, "recall", { query: "car?" }, "c")],
      ["done"],
    ];
    const { run, asked, spans, telemetry } = await open(script);
    await run("hello");
    const events = await run("Tell me about the dog");
    const [first, second] = found(events);
    expect(first?.notes.map(({ text }) => text)).to.deep.equal(["She has a puppy"]);
    expect(first).to.deep.include({ model: "embedder/small", usage: { inputTokens: 7 }, cost: 0.007 });
    expect(second?.notes).to.have.length(1);
    const end = events.at(-1);
    if (end?.type !== "run.finished") throw new Error("it did not finish");
    expect(end.spent?.find(({ by }) => by === "recall")).to.deep.include({ name: "embedder/small", cost: 0.007 });
    expect(end.spent?.find(({ by, name }) => by === "tool" && name === "recall")).to.deep.include({ cost: 0.007 });
    expect(asked).to.have.length(5);
    const text = await telemetry.metrics();
    expect(text).to.match(/venturi_memory_duration_seconds_count\{.*operation="put".*\} 2/);
    expect(text).to.match(/venturi_memory_duration_seconds_count\{.*operation="search".*\} 3/);
    expect(text).to.not.contain("puppy");
    const named = (name: string) => spans.named(name);
    expect(named("venturi.memory search")).to.have.length(3);
    const roots = new Set(named("invoke_agent keeper").map((span) => span.spanContext().spanId));
    const tools = new Set(
      [...named("execute_tool recall"), ...named("execute_tool memorize")].map((span) => span.spanContext().spanId),
    );
    const above = (span: { parentSpanContext?: { spanId: string } }) => span.parentSpanContext?.spanId ?? "";
    expect(named("venturi.memory search").filter((span) => roots.has(above(span)))).to.have.length(2);
    expect(named("venturi.memory search").filter((span) => tools.has(above(span)))).to.have.length(1);
    expect(named("venturi.memory put").every((span) => tools.has(above(span)))).to.equal(true);
    expect(named("venturi.memory put")[0]?.attributes).to.deep.equal({ "venturi.memory.store": "notes" });
    expect([...spans.open.values()]).to.deep.equal([]);
  });

  it("a failing embedding model loses the vector, not the note or the answer", async () => {
    const { run, state } = await open([keep("She has a puppy", "a"), ["ok"], ["yes"]]);
    state.fails = true;
    const put = (await run("hello")).find((event) => event.type === "tool.finished");
    expect(put).to.include({ ok: true });
    const [event] = found(await run("a puppy?"));
    expect(event?.notes.map(({ text }) => text)).to.deep.equal(["She has a puppy"]);
    expect(event?.error).to.include({ code: "unavailable" });
  });
});
