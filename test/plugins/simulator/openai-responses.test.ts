import { expect } from "chai";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { asksForBoth, both } from "./tools.ts";

const tools = both.map((tool): OpenAI.Responses.FunctionTool => ({ type: "function", ...tool, strict: false }));

describe("the official openai client on the simulator's responses", () => {
  let simulator: Simulator;
  let client: OpenAI;
  before(async () => {
    simulator = await startSimulator();
    client = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: "simulator", maxRetries: 0 });
  });
  after(() => simulator.close());

  it("streams text and ends with the whole response and its usage", async () => {
    const stream = client.responses.stream({ model: "echo", input: "one two три" });
    const words: string[] = [];
    stream.on("response.output_text.delta", (event) => words.push(event.delta));
    const response = await stream.finalResponse();
    expect(words).to.deep.equal(["one", " two", " три"]);
    expect(response.output_text).to.equal("one two три");
    expect(response.status).to.equal("completed");
    expect(response.usage?.output_tokens).to.be.greaterThan(0);
  });

  it("streams reasoning, text and two parallel tool calls, then an answer that quotes their results", async () => {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: asksForBoth }];
    const request = { model: "small", tools, reasoning: { summary: "auto" as const } };
    const first = await client.responses.stream({ ...request, input }).finalResponse();
    const kinds = first.output.map((item) => item.type);
    expect(kinds).to.deep.equal(["reasoning", "message", "function_call", "function_call"]);
    const calls = first.output.filter((item) => item.type === "function_call");
    expect(calls.map((call) => [call.name, call.arguments])).to.deep.equal([
      ["clock", '{"timeZone":"Asia/Tokyo"}'],
      ["calculator", '{"expression":"17 * 23"}'],
    ]);
    const results = calls.map((call, index): OpenAI.Responses.ResponseInputItem.FunctionCallOutput => {
      return { type: "function_call_output", call_id: call.call_id, output: index === 0 ? "12:30" : "391" };
    });
    const spoken = first.output
      .filter((item) => item.type !== "reasoning")
      .map((item) => item as OpenAI.Responses.ResponseInputItem);
    const second = await client.responses
      .stream({ ...request, input: [...input, ...spoken, ...results] })
      .finalResponse();
    expect(second.output_text).to.equal("It is 12:30. 17 * 23 = 391.");
  });

  it("answers whole when streaming is not asked for", async () => {
    const response = await client.responses.create({ model: "small", input: "calculate 2 + 2", tools });
    const call = response.output.find((item) => item.type === "function_call");
    expect(call?.arguments).to.equal('{"expression":"2 + 2"}');
  });
});
