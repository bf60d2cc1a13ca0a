import { expect } from "chai";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { asksForBoth, both } from "./tools.ts";

const tools = both.map((tool): OpenAI.ChatCompletionTool => ({ type: "function", function: tool }));

describe("the official openai client on the simulator's chat completions", () => {
  let simulator: Simulator;
  let client: OpenAI;
  before(async () => {
    simulator = await startSimulator();
    client = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: "simulator", maxRetries: 0 });
  });
  after(() => simulator.close());

  it("streams text word by word, with usage", async () => {
    const stream = client.chat.completions.stream({
      model: "echo",
      messages: [{ role: "user", content: "über 北京 and back" }],
      stream_options: { include_usage: true },
    });
    const words: string[] = [];
    stream.on("content", (delta) => words.push(delta));
    const completion = await stream.finalChatCompletion();
    expect(words.filter((word) => word !== "")).to.deep.equal(["über", " 北京", " and", " back"]);
    expect(completion.choices[0]?.message.content).to.equal("über 北京 and back");
    expect(completion.choices[0]?.finish_reason).to.equal("stop");
    expect(completion.usage?.completion_tokens).to.be.greaterThan(0);
  });

  it("streams two parallel tool calls and, given their results, an answer that quotes them", async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: asksForBoth }];
    const first = await client.chat.completions.stream({ model: "small", messages, tools }).finalChatCompletion();
    const calls = first.choices[0]?.message.tool_calls ?? [];
    const named = calls.map((call) => (call.type === "function" ? [call.function.name, call.function.arguments] : []));
    expect(named).to.deep.equal([
      ["clock", '{"timeZone":"Asia/Tokyo"}'],
      ["calculator", '{"expression":"17 * 23"}'],
    ]);
    expect(first.choices[0]?.finish_reason).to.equal("tool_calls");
    const said = first.choices[0]?.message;
    if (said === undefined) throw new Error("no message");
    messages.push(said);
    calls.forEach((call, index) => {
      messages.push({ role: "tool", tool_call_id: call.id, content: index === 0 ? "12:30" : "391" });
    });
    const second = await client.chat.completions.stream({ model: "small", messages, tools }).finalChatCompletion();
    expect(second.choices[0]?.message.content).to.equal("It is 12:30. 17 * 23 = 391.");
  });

  it("answers whole when streaming is not asked for", async () => {
    const answer = await client.chat.completions.create({
      model: "small",
      messages: [{ role: "user", content: "calculate 2 + 2" }],
      tools,
    });
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    expect(call?.type === "function" && call.function).to.deep.equal({
      name: "calculator",
      arguments: '{"expression":"2 + 2"}',
    });
    expect(answer.usage?.prompt_tokens).to.be.greaterThan(0);
  });

  it("lists its models", async () => {
    const models = await client.models.list();
    expect(models.data.map((model) => model.id)).to.include("small");
  });
});
