import Anthropic from "@anthropic-ai/sdk";
import { expect } from "chai";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { asksForBoth, both } from "./tools.ts";

const tools = both.map(({ parameters, ...tool }): Anthropic.Tool => ({ ...tool, input_schema: parameters }));

describe("the official anthropic client on the simulator's messages", () => {
  let simulator: Simulator;
  let client: Anthropic;
  before(async () => {
    simulator = await startSimulator();
    client = new Anthropic({ baseURL: simulator.url, apiKey: "simulator", maxRetries: 0 });
  });
  after(() => simulator.close());

  it("streams text word by word, with usage", async () => {
    const stream = client.messages.stream({
      model: "echo",
      max_tokens: 100,
      messages: [{ role: "user", content: "один deux 3" }],
    });
    const words: string[] = [];
    stream.on("text", (delta) => words.push(delta));
    const message = await stream.finalMessage();
    expect(words).to.deep.equal(["один", " deux", " 3"]);
    expect(message.stop_reason).to.equal("end_turn");
    expect(message.usage.input_tokens).to.be.greaterThan(0);
    expect(message.usage.output_tokens).to.be.greaterThan(0);
  });

  it("streams thinking, text and two parallel tool calls, then an answer that quotes their results", async () => {
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: asksForBoth }];
    const request = {
      model: "small",
      max_tokens: 2000,
      tools,
      thinking: { type: "enabled" as const, budget_tokens: 1024 },
    };
    const first = await client.messages.stream({ ...request, messages }).finalMessage();
    expect(first.content.map((block) => block.type)).to.deep.equal(["thinking", "text", "tool_use", "tool_use"]);
    expect(first.stop_reason).to.equal("tool_use");
    const calls = first.content.filter((block) => block.type === "tool_use");
    expect(calls.map((call) => [call.name, call.input])).to.deep.equal([
      ["clock", { timeZone: "Asia/Tokyo" }],
      ["calculator", { expression: "17 * 23" }],
    ]);
    const results = calls.map((call, index): Anthropic.ToolResultBlockParam => {
      return { type: "tool_result", tool_use_id: call.id, content: index === 0 ? "12:30" : "391" };
    });
    messages.push({ role: "assistant", content: first.content }, { role: "user", content: results });
    const second = await client.messages.stream({ ...request, messages }).finalMessage();
    expect(second.content.at(-1)).to.include({ type: "text", text: "It is 12:30. 17 * 23 = 391." });
  });

  it("answers whole when streaming is not asked for", async () => {
    const message = await client.messages.create({
      model: "small",
      max_tokens: 100,
      messages: [{ role: "user", content: "calculate 2 + 2" }],
      tools,
    });
    const call = message.content.find((block) => block.type === "tool_use");
    expect(call?.input).to.deep.equal({ expression: "2 + 2" });
  });

  it("reports an HTTP error and an error inside the stream in the vendor's own form", async () => {
    const request = { model: "small", max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] };
    const limited = { headers: { "x-simulate-fault": "rate-limit=1500" } };
    const refused = await caught(client.messages.create(request, limited));
    expect(refused).to.be.instanceOf(Anthropic.RateLimitError);
    const broken = { headers: { "x-simulate-fault": "error=529@4" } };
    const failed = await caught(client.messages.stream(request, broken).finalMessage());
    expect(String(failed)).to.contain("overloaded_error");
  });
});

const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
