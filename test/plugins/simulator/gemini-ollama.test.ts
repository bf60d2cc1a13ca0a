import { expect } from "chai";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { asksForBoth, both } from "./tools.ts";

interface GeminiChunk {
  candidates?: { content?: { parts?: Record<string, unknown>[] }; finishReason?: string }[];
  usageMetadata?: Record<string, number>;
}

const geminiRequest = {
  contents: [{ role: "user", parts: [{ text: asksForBoth }] }],
  tools: [{ functionDeclarations: both }],
};

describe("the simulator's gemini wire", () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const post = async (path: string, body: unknown) =>
    (await fetch(`${simulator.url}${path}`, { method: "POST", body: JSON.stringify(body) })).text();

  it("streams SSE with CRLF: whole calls, a finish reason and usage in the last chunk", async () => {
    const text = await post("/v1beta/models/small:streamGenerateContent?alt=sse", geminiRequest);
    const chunks = text
      .split("\r\n\r\n")
      .filter((event) => event !== "")
      .map((event): GeminiChunk => JSON.parse(event.slice("data: ".length)));
    expect(calls(chunks)).to.deep.equal([
      ["clock", { timeZone: "Asia/Tokyo" }],
      ["calculator", { expression: "17 * 23" }],
    ]);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).to.equal("STOP");
    expect(chunks.at(-1)?.usageMetadata?.totalTokenCount).to.be.greaterThan(1);
  });

  it("streams one JSON array when SSE is not asked for, and one object when streaming is not", async () => {
    const streamed: GeminiChunk[] = JSON.parse(await post("/v1beta/models/small:streamGenerateContent", geminiRequest));
    const whole: GeminiChunk = JSON.parse(await post("/v1beta/models/small:generateContent", geminiRequest));
    expect(calls(streamed)).to.deep.equal(calls([whole]));
    expect(calls([whole])).to.have.length(2);
  });

  it("tells what the functions answered", async () => {
    const functionCall = { name: "calculator", args: { expression: "17 * 23" } };
    const functionResponse = { name: "calculator", response: { output: "391" } };
    const contents = [
      ...geminiRequest.contents,
      { role: "model", parts: [{ functionCall }] },
      { role: "user", parts: [{ functionResponse }] },
    ];
    const whole: GeminiChunk = JSON.parse(
      await post("/v1beta/models/small:generateContent", { ...geminiRequest, contents }),
    );
    const parts = whole.candidates?.[0]?.content?.parts ?? [];
    expect(parts.map((part) => part.text).join("")).to.equal("17 * 23 = 391.");
  });
});

function calls(chunks: readonly GeminiChunk[]): unknown[] {
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  return parts.flatMap((part) => {
    const call = part.functionCall as { name: string; args: unknown } | undefined; // JSON
    return call === undefined ? [] : [[call.name, call.args]];
  });
}

interface OllamaLine {
  message: { content: string; thinking?: string; tool_calls?: { function: { name: string; arguments: unknown } }[] };
  done: boolean;
  done_reason?: string;
  eval_count?: number;
}

describe("the simulator's ollama wire", () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const chat = async (body: unknown) =>
    (await fetch(`${simulator.url}/api/chat`, { method: "POST", body: JSON.stringify(body) })).text();
  const tools = both.map((tool) => ({ type: "function", function: tool }));
  const messages = [{ role: "user", content: asksForBoth }];

  it("streams lines by default, with thinking, whole calls and counts in the last", async () => {
    const text = await chat({ model: "small", messages, tools, think: true });
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line): OllamaLine => JSON.parse(line));
    const functions = lines.flatMap((line) => line.message.tool_calls ?? []).map((call) => call.function);
    expect(functions).to.deep.equal([
      { index: 0, name: "clock", arguments: { timeZone: "Asia/Tokyo" } },
      { index: 1, name: "calculator", arguments: { expression: "17 * 23" } },
    ]);
    expect(lines.map((line) => line.message.thinking ?? "").join("")).to.contain("clock and calculator");
    expect(lines.at(-1)).to.include({ done: true, done_reason: "stop" });
    expect(lines.at(-1)?.eval_count).to.be.greaterThan(1);
  });

  it("answers in one piece without `stream`, and repeats what the tools answered", async () => {
    const called = { role: "assistant", content: "", tool_calls: [{ function: { name: "clock", arguments: {} } }] };
    const answered = { role: "tool", tool_name: "clock", content: "12:30" };
    const whole: OllamaLine = JSON.parse(
      await chat({ model: "small", messages: [...messages, called, answered], tools, stream: false }),
    );
    expect(whole.message.content).to.equal("It is 12:30.");
    expect(whole.done).to.equal(true);
  });
});
