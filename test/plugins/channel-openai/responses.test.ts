import { expect } from "chai";
import OpenAI from "openai";
import channelOpenai from "../../../plugins/channel-openai/index.ts";
import { serve, type TestService } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

describe("channel-openai with the official client: responses", () => {
  let service: TestService;
  let client: OpenAI;
  before(async () => {
    service = await serve({ scripts, channels: [{ plugin: channelOpenai }] });
    client = new OpenAI({ apiKey: "none", baseURL: `${service.url}/openai/v1` });
  });
  after(() => service.close());
  const tools = [
    {
      type: "function" as const,
      name: "weather",
      strict: false,
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  ];

  it("answers whole", async () => {
    const response = await client.responses.create({ model: "hello", input: "hi" });
    expect(response.output_text).to.equal("Hello world.");
    expect(response.status).to.equal("completed");
    expect(response.usage?.total_tokens).to.equal(8);
  });

  it("streams the events from which the client builds the same response", async () => {
    const stream = client.responses.stream({ model: "clockwork", input: "hi" });
    const types: string[] = [];
    let said = "";
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "response.output_text.delta") said += event.delta;
    }
    const final = await stream.finalResponse();
    expect(said).to.equal("Let me look. It is noon.");
    expect(final.output.map((item) => item.type)).to.deep.equal(["reasoning", "message", "message"]);
    expect(final.output_text).to.equal(said);
    expect(types[0]).to.equal("response.created");
    expect(types.at(-1)).to.equal("response.completed");
  });

  for (const streamed of [true, false]) {
    it(`leaves a function call to the client and goes on from it, ${streamed ? "streamed" : "whole"}`, async () => {
      const asked = { model: "delegating", input: "weather?", tools };
      const first = streamed
        ? await client.responses.stream(asked).finalResponse()
        : await client.responses.create(asked);
      const call = first.output.find((item) => item.type === "function_call");
      expect(call).to.include({ name: "weather", call_id: "call_1", arguments: '{"city":"Oslo"}' });
      const second = await client.responses.create({
        model: "delegating",
        previous_response_id: first.id,
        input: [{ type: "function_call_output", call_id: "call_1", output: "cold" }],
        tools,
      });
      expect(second.output_text).to.equal("It is cold (weather).");
      const rows = await Promise.all([first.id, second.id].map((id) => service.runs.get(id.replace("resp_", ""))));
      expect(rows[0]?.session).to.be.a("string").and.equal(rows[1]?.session);
    });
  }

  it("takes a conversation sent whole, calls and results included", async () => {
    const response = await client.responses.create({
      model: "delegating",
      input: [
        { role: "user", content: [{ type: "input_text", text: "weather?" }] },
        { type: "function_call", call_id: "x", name: "weather", arguments: "{}" },
        { type: "function_call_output", call_id: "x", output: "windy" },
      ],
    });
    expect(response.output_text).to.equal("It is windy (weather).");
  });

  it("ends a failed stream with response.failed", async () => {
    const stream = await client.responses.create({ model: "broken", input: "hi", stream: true });
    let last: OpenAI.Responses.ResponseStreamEvent | undefined;
    for await (const event of stream) last = event;
    expect(last?.type).to.equal("response.failed");
    if (last?.type === "response.failed") expect(last.response.error?.message).to.equal("the model broke");
  });
});
