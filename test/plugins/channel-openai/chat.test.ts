import { expect } from "chai";
import OpenAI from "openai";
import channelOpenai from "../../../plugins/channel-openai/index.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { keyOf, serve, type TestService } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

describe("channel-openai with the official client: chat completions", () => {
  let service: TestService;
  let client: OpenAI;
  before(async () => {
    service = await serve({
      scripts,
      channels: [{ plugin: channelOpenai }],
      settings: { auth: { keys: [keyOf("test", "sk-test"), { ...keyOf("narrow", "sk-narrow"), agents: ["hello"] }] } },
    });
    client = new OpenAI({ apiKey: "sk-test", baseURL: `${service.url}/openai/v1` });
  });
  after(() => service.close());
  const user = (content: string) => ({ role: "user" as const, content });
  const weather = {
    type: "function" as const,
    function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
  };

  it("streams text and ends with a finish reason and usage", async () => {
    const stream = await client.chat.completions.create({
      model: "hello",
      messages: [user("hi")],
      stream: true,
      stream_options: { include_usage: true },
    });
    let said = "";
    let finish: string | null = null;
    let usage: unknown;
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    expect([said, finish]).to.deep.equal(["Hello world.", "stop"]);
    expect(usage).to.include({ prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
  });

  it("answers whole", async () => {
    const { data, response } = await client.chat.completions
      .create({ model: "clockwork", messages: [user("hi")] })
      .withResponse();
    expect(data.choices[0]?.message.content).to.equal("Let me look. \n\nIt is noon.");
    expect(data.choices[0]?.message.tool_calls).to.equal(undefined);
    expect(data.usage?.completion_tokens_details?.reasoning_tokens).to.equal(2);
    expect(data.id).to.equal(`chatcmpl-${response.headers.get("x-venturi-run")}`);
  });

  it("does not show the agent's own tools as calls for the client", async () => {
    const runner = client.chat.completions.stream({ model: "clockwork", messages: [user("hi")] });
    const completion = await runner.finalChatCompletion();
    expect(completion.choices[0]?.message.content).to.equal("Let me look. \n\nIt is noon.");
    expect(completion.choices[0]?.finish_reason).to.equal("stop");
  });

  for (const stream of [true, false]) {
    it(`returns a call of the client's tool and takes its result, ${stream ? "streamed" : "whole"}`, async () => {
      const asked = { model: "delegating", messages: [user("weather?")], tools: [weather] };
      const first = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked);
      const [choice] = first.choices;
      expect(choice?.finish_reason).to.equal("tool_calls");
      const [call] = choice?.message.tool_calls ?? [];
      expect(call).to.deep.include({ id: "call_1", type: "function" });
      const message = choice?.message;
      if (message === undefined || call?.type !== "function") throw new Error("no call");
      expect(JSON.parse(call.function.arguments)).to.deep.equal({ city: "Oslo" });
      const second = await client.chat.completions.create({
        ...asked,
        messages: [...asked.messages, message, { role: "tool", tool_call_id: call.id, content: "cold" }],
      });
      expect(second.choices[0]?.message.content).to.equal("It is cold (weather).");
    });
  }

  it("runs the client library's own tool loop", async () => {
    const runner = client.chat.completions.runTools({
      model: "delegating",
      messages: [user("weather?")],
      tools: [
        {
          type: "function",
          function: {
            name: "weather",
            description: "the weather",
            parameters: weather.function.parameters,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => `fine in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).to.equal("It is fine in Oslo (weather).");
  });

  it("hands on messages, images, options, schema and tool choice", async () => {
    const completion = await client.chat.completions.create({
      model: "echo",
      messages: [
        { role: "system", content: "be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "what is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
      temperature: 0.5,
      max_completion_tokens: 9,
      stop: "END",
      tools: [weather],
      tool_choice: { type: "function", function: { name: "weather" } },
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } },
    });
    const request = JSON.parse(completion.choices[0]?.message.content ?? "") as RunRequest;
    expect(request.input.messages).to.deep.equal([
      { role: "system", parts: [{ type: "text", text: "be brief" }] },
      {
        role: "user",
        parts: [
          { type: "text", text: "what is this?", native: { wire: "openai-chat", fields: {} } },
          { type: "image", mediaType: "image/png", data: "AAAA" },
        ],
      },
    ]);
    expect(request.options).to.deep.equal({ temperature: 0.5, maxTokens: 9, stop: ["END"] });
    expect(request.toolChoice).to.deep.equal({ name: "weather" });
    expect(request.output).to.deep.include({ name: "answer", schema: { type: "object" } });
    expect(request.onDisconnect).to.equal("cancel");
  });

  it("throws the client's own error classes", async () => {
    const thrown = (promise: PromiseLike<unknown>) =>
      Promise.resolve(promise).then(
        () => expect.fail("did not fail"),
        (error: unknown) => error,
      );
    const wrong = new OpenAI({ apiKey: "sk-wrong", baseURL: `${service.url}/openai/v1` });
    const narrow = new OpenAI({ apiKey: "sk-narrow", baseURL: `${service.url}/openai/v1` });
    const ask = (model: string, from = client) => from.chat.completions.create({ model, messages: [user("hi")] });
    expect(await thrown(ask("hello", wrong))).to.be.instanceOf(OpenAI.AuthenticationError);
    expect(await thrown(ask("echo", narrow))).to.be.instanceOf(OpenAI.PermissionDeniedError);
    expect(await thrown(ask("nobody"))).to.be.instanceOf(OpenAI.NotFoundError);
    expect(await thrown(client.chat.completions.create({ model: "hello", messages: [] }))).to.be.instanceOf(
      OpenAI.BadRequestError,
    );
    const failed = await thrown(ask("broken"));
    expect(failed).to.be.instanceOf(OpenAI.InternalServerError);
    expect(failed).to.include({ code: "llm_error", status: 502 });
    expect((await service.runs.list({ agent: "broken" })).runs, "not repeated").to.have.length(1);
  });

  it("throws in the middle of a stream when the run fails", async () => {
    const stream = await client.chat.completions.create({ model: "broken", messages: [user("hi")], stream: true });
    let said = "";
    let failure: unknown;
    try {
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? "";
    } catch (error) {
      failure = error;
    }
    expect(said).to.equal("so far");
    expect(failure).to.be.instanceOf(OpenAI.APIError).with.property("code", "llm_error");
  });

  it("cancels the run when the client stops reading, streamed or not", async () => {
    const stream = await client.chat.completions.create({ model: "endless", messages: [user("hi")], stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const abort = new AbortController();
    const whole = client.chat.completions
      .create({ model: "endless", messages: [user("hi")] }, { signal: abort.signal })
      .catch(() => "aborted");
    while ((await service.runs.list({ agent: "endless" })).runs.length < 2) await turn();
    abort.abort();
    expect(await whole).to.equal("aborted");
    for (;;) {
      const { runs } = await service.runs.list({ agent: "endless" });
      if (runs.every((row) => row.outcome === "failed")) break;
      await turn();
    }
  });

  it("lists the agents as models", async () => {
    const models: string[] = [];
    for await (const model of client.models.list()) models.push(model.id);
    expect(models).to.deep.equal(Object.keys(scripts));
    expect((await client.models.retrieve("hello")).owned_by).to.equal("venturi");
  });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
