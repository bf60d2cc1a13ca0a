import Anthropic from "@anthropic-ai/sdk";
import { expect } from "chai";
import channelAnthropic from "../../../plugins/channel-anthropic/index.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import type { Script } from "../../../src/testing/scripted-run.ts";
import { keyOf, serve, type TestService } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

/** A block of a client of this wire, without further fields. */
const ofThisWire = { wire: "anthropic-messages", fields: {} };

/** Thinks in two rounds, with a tool of the agent's between them. */
const thinking: Script = async ({ emit }) => {
  for (const [round, text] of [
    [1, "First."],
    [2, "Then."],
  ] as const) {
    emit(
      { type: "round.started", round, model: "test/model", attempt: 1 },
      { type: "reasoning.delta", round, text, part: 0 },
      { type: "reasoning.delta", round, text: "", part: 0, signature: `s${round}` },
      { type: "round.finished", round, finish: round === 1 ? "tool_calls" : "stop", usage: {} },
    );
  }
  return undefined;
};

describe("channel-anthropic with the official client", () => {
  let service: TestService;
  let client: Anthropic;
  before(async () => {
    service = await serve({
      scripts: { ...scripts, thinking },
      channels: [{ plugin: channelAnthropic }],
      settings: { auth: { keys: [keyOf("test", "sk-ant")] } },
    });
    client = new Anthropic({ apiKey: "sk-ant", baseURL: `${service.url}/anthropic` });
  });
  after(() => service.close());
  const user = (content: string) => ({ role: "user" as const, content });
  const ask = (model: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
    model,
    max_tokens: 100,
    messages: [user("hi")],
    ...more,
  });
  const tools = [
    { name: "weather", input_schema: { type: "object" as const, properties: { city: { type: "string" } } } },
  ];

  it("answers whole", async () => {
    const message = await client.messages.create(ask("hello"));
    expect(message.content).to.deep.equal([{ type: "text", text: "Hello world." }]);
    expect(message.stop_reason).to.equal("end_turn");
    expect(message.usage).to.include({ input_tokens: 3, output_tokens: 5 });
  });

  it("streams thinking and text in blocks of their own, without the agent's own tools", async () => {
    const stream = client.messages.stream(ask("clockwork"));
    let said = "";
    stream.on("text", (delta) => {
      said += delta;
    });
    const message = await stream.finalMessage();
    expect(said).to.equal("Let me look. \n\nIt is noon.");
    expect(message.content.map((block) => block.type)).to.deep.equal(["thinking", "text"]);
    expect(message.usage).to.include({ input_tokens: 6, output_tokens: 7, cache_read_input_tokens: 4 });
  });

  it("keeps the signed thinking of each round in a block of its own", async () => {
    const content = [
      { type: "thinking", thinking: "First.", signature: "s1" },
      { type: "thinking", thinking: "Then.", signature: "s2" },
    ];
    expect((await client.messages.create(ask("thinking"))).content).to.deep.equal(content);
    expect((await client.messages.stream(ask("thinking")).finalMessage()).content).to.deep.equal(content);
  });

  for (const streamed of [true, false]) {
    it(`leaves tool_use to the client and takes its result, ${streamed ? "streamed" : "whole"}`, async () => {
      const asked = ask("delegating", { tools });
      const first = streamed ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
      expect(first.stop_reason).to.equal("tool_use");
      const call = first.content.find((block) => block.type === "tool_use");
      expect(call).to.deep.include({ name: "weather", input: { city: "Oslo" } });
      const second = await client.messages.create({
        ...asked,
        messages: [
          user("hi"),
          { role: "assistant", content: first.content },
          { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "cold" }] },
        ],
      });
      expect(second.content).to.deep.include({ type: "text", text: "It is cold (weather)." });
    });
  }

  it("hands on system, images, options and tool choice", async () => {
    const message = await client.messages.create(
      ask("echo", {
        system: "be brief",
        stop_sequences: ["END"],
        tools,
        tool_choice: { type: "any" },
        messages: [
          {
            role: "user",
            content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
          },
        ],
      }),
    );
    const [block] = message.content;
    const request = JSON.parse(block?.type === "text" ? block.text : "") as RunRequest;
    expect(request.input.messages).to.deep.equal([
      { role: "system", parts: [{ type: "text", text: "be brief" }] },
      { role: "user", parts: [{ type: "image", mediaType: "image/png", data: "AAAA", native: ofThisWire }] },
    ]);
    expect(request.options).to.deep.equal({ maxTokens: 100, stop: ["END"] });
    expect(request.toolChoice).to.equal("required");
  });

  it("throws the client's own error classes, before and in the middle of a stream", async () => {
    const thrown = (promise: PromiseLike<unknown>) =>
      Promise.resolve(promise).then(
        () => expect.fail("did not fail"),
        (error: unknown) => error,
      );
    const wrong = new Anthropic({ apiKey: "wrong", baseURL: `${service.url}/anthropic` });
    expect(await thrown(wrong.messages.create(ask("hello")))).to.be.instanceOf(Anthropic.AuthenticationError);
    expect(await thrown(client.messages.create(ask("nobody")))).to.be.instanceOf(Anthropic.NotFoundError);
    expect(await thrown(client.messages.create(ask("broken")))).to.be.instanceOf(Anthropic.InternalServerError);
    expect((await service.runs.list({ agent: "broken" })).runs, "not repeated").to.have.length(1);
    const failure = await thrown(client.messages.stream(ask("broken")).finalMessage());
    expect(failure).to.be.instanceOf(Anthropic.APIError);
    expect(String(failure)).to.include("the model broke");
  });

  it("cancels the run when the client stops reading", async () => {
    const stream = await client.messages.create({ ...ask("endless"), stream: true });
    for await (const event of stream) if (event.type === "content_block_delta") break;
    while ((await service.runs.list({ agent: "endless" })).runs[0]?.outcome !== "failed") {
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it("lists the agents as models", async () => {
    const models: string[] = [];
    for await (const model of client.models.list()) models.push(model.id);
    expect(models).to.deep.equal(Object.keys({ ...scripts, thinking }));
  });
});
