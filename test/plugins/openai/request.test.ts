import { assert } from "chai";
import { type Dialect, dialectOf, dialects } from "../../../plugins/openai/dialects.ts";
import plugin from "../../../plugins/openai/index.ts";
import type { OpenAiOptions } from "../../../plugins/openai/options.ts";
import { bodyOf } from "../../../plugins/openai/request.ts";
import type { Message } from "../../../src/core/model/messages.ts";
import { textMessage } from "../../../src/core/model/messages.ts";
import type { GenerationRequest } from "../../../src/core/model/provider.ts";
import { Loopback } from "../../provider/loopback.ts";
import { createPlugin } from "../create-plugin.ts";
import { text } from "./streams.ts";

const options = (changes: object = {}): OpenAiOptions => plugin.options.parse(changes) as OpenAiOptions; // the schema's own output

const request = (changes: Partial<GenerationRequest> = {}): GenerationRequest => ({
  model: "m",
  messages: [textMessage("system", "Be brief."), textMessage("user", "Hi")],
  tools: [],
  options: {},
  ...changes,
});

const asking = (settings: object = {}, dialect: Dialect = dialects.openai) => ({
  options: options(settings),
  dialect,
  mode: "stream" as const,
});

const body = (changes: Partial<GenerationRequest> = {}, settings: object = {}, dialect?: Dialect) =>
  bodyOf(request(changes), asking(settings, dialect));

const turn: Message[] = [
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "Hm. ", id: "reasoning_content" },
      { type: "reasoning", text: "Yes.", id: "reasoning_content" },
      { type: "tool_call", call: "c1", name: "weather", arguments: { city: "Oslo" } },
    ],
  },
  { role: "tool", parts: [{ type: "tool_result", call: "c1", name: "weather", ok: true, output: "rain" }] },
];

describe("a Chat Completions request", () => {
  it("holds the conversation as plain strings and asks for usage", () => {
    assert.deepEqual(body(), {
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
    assert.notProperty(body({}, { includeUsage: false }), "stream_options");
    assert.notProperty(bodyOf(request(), { ...asking(), mode: "whole" }), "stream");
  });

  it("offers tools and says which to take", () => {
    const tools = [{ name: "weather", description: "tells", parameters: { type: "object" } }];
    const asked = body({ tools, toolChoice: { name: "weather" } });
    assert.deepEqual(asked.tools, [
      { type: "function", function: { name: "weather", description: "tells", parameters: { type: "object" } } },
    ]);
    assert.deepEqual(asked.tool_choice, { type: "function", function: { name: "weather" } });
    assert.equal(body({ tools, toolChoice: "required" }).tool_choice, "required");
    assert.notProperty(body({ toolChoice: "required" }), "tool_choice");
  });

  it("adds the vendor's own tools after the agent's", () => {
    const tools = [{ name: "t", description: "d", parameters: {} }];
    const own = { type: "web_search" };
    assert.deepEqual((body({ tools, options: { tools: [own] } }).tools as unknown[])[1], own);
    assert.deepEqual(body({ options: { tools: [own] } }).tools, [own]);
  });

  it("translates the named settings and passes the others on", () => {
    const settings = {
      temperature: 0,
      topP: 0.5,
      maxTokens: 9,
      stop: ["X"],
      seed: 1,
      reasoning: { effort: "low" },
      top_k: 3,
    } as const;
    assert.deepInclude(body({ options: settings }), {
      temperature: 0,
      top_p: 0.5,
      max_completion_tokens: 9,
      stop: ["X"],
      seed: 1,
      reasoning_effort: "low",
      top_k: 3,
    });
    assert.deepInclude(body({ options: { maxTokens: 9 } }, { maxTokensKey: "max_tokens" }), { max_tokens: 9 });
  });

  it("asks for output by a schema", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    assert.deepEqual(body({ output: { name: "answer", schema } }).response_format, {
      type: "json_schema",
      json_schema: { name: "answer", schema, strict: true },
    });
  });

  it("asks for strictness only with a schema that is strict", () => {
    const strict = (schema: Record<string, unknown>) =>
      (body({ output: { name: "o", schema } }).response_format as { json_schema: { strict: boolean } }).json_schema
        .strict;
    assert.isFalse(strict({ type: "object", properties: { a: {} }, additionalProperties: false }));
    assert.isFalse(strict({ type: "object", properties: { a: {} }, required: ["a"] }));
    const inner = { type: "object", properties: { b: {} } };
    assert.isFalse(
      strict({ type: "object", properties: { a: { items: inner } }, required: ["a"], additionalProperties: false }),
    );
  });

  it("shows images, by data or by address, and a tool's images after its result", () => {
    const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const;
    const asked = body({
      messages: [
        {
          role: "user",
          parts: [
            { type: "text", text: "Look" },
            image,
            { type: "image", mediaType: "image/png", url: "https://x/y.png" },
          ],
        },
        {
          role: "tool",
          parts: [{ type: "tool_result", call: "c", name: "t", ok: true, output: "seen", images: [image] }],
        },
      ],
    });
    const shown = { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } };
    assert.deepEqual(asked.messages, [
      {
        role: "user",
        content: [{ type: "text", text: "Look" }, shown, { type: "image_url", image_url: { url: "https://x/y.png" } }],
      },
      { role: "tool", tool_call_id: "c", content: "seen" },
      { role: "user", content: [shown] },
    ]);
  });

  it("sends calls with their results, and reasoning back in the field it came in", () => {
    assert.deepEqual(body({ messages: turn }).messages, [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }],
        reasoning_content: "Hm. Yes.",
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
    ]);
  });

  it("sends reasoning only when it is wanted", () => {
    const first = (settings: object, messages: Message[]) => (body({ messages }, settings).messages as object[])[0];
    assert.notProperty(first({ sendReasoning: "never" }, turn), "reasoning_content");
    const said: Message = {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "Hm", id: "reasoning_content" },
        { type: "text", text: "Hi" },
      ],
    };
    assert.notProperty(first({}, [said]), "reasoning_content");
    assert.propertyVal(first({ sendReasoning: "always" }, [said]), "reasoning_content", "Hm");
  });

  it("sends back what was kept and signed, and nothing of another wire", () => {
    const details = { reasoning_details: [{ type: "reasoning.encrypted", data: "QUJD" }] };
    const [message] = body({
      messages: [
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "Hm", id: "reasoning" },
            { type: "opaque", wire: "openai-chat", data: details },
            { type: "opaque", wire: "gemini", data: { alien: true } },
            { type: "tool_call", call: "c", name: "t", arguments: {}, signature: "c2ln" },
          ],
        },
      ],
    }).messages as object[];
    assert.deepEqual(message, {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "c",
          type: "function",
          function: { name: "t", arguments: "{}" },
          extra_content: { google: { thought_signature: "c2ln" } },
        },
      ],
      ...details,
    });
  });

  it("makes ids that the server takes, the same for a call and its result", () => {
    const ids = (settings: object, call: string, dialect?: Dialect) => {
      const messages: Message[] = [
        { role: "assistant", parts: [{ type: "tool_call", call, name: "t", arguments: {} }] },
        { role: "tool", parts: [{ type: "tool_result", call, name: "t", ok: true, output: "" }] },
      ];
      const [said, told] = body({ messages }, settings, dialect).messages as [
        { tool_calls: { id: string }[] },
        { tool_call_id: string },
      ];
      assert.equal(said.tool_calls[0]?.id, told.tool_call_id);
      return told.tool_call_id;
    };
    assert.equal(ids({}, "call_1"), "call_1");
    assert.isAtMost(ids({}, "x".repeat(99)).length, 40);
    assert.match(ids({}, "call_1", dialectOf("auto", "https://api.mistral.ai/v1")), /^[a-zA-Z0-9]{9}$/);
    assert.equal(ids({ callIds: "keep" }, "call_1", dialects.mistral), "call_1");
    assert.equal(ids({ callIds: "short" }, "abcDEF123"), "abcDEF123");
  });

  it("goes to the server's address with key, organization and query", async () => {
    const server = await Loopback.start((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
    });
    const provider = await createPlugin(plugin, {
      baseUrl: `${server.url}/v1/`,
      apiKey: "sk-1",
      organization: "org",
      project: "prj",
      query: { "api-version": "1" },
    });
    const timeouts = { connect: 1000, firstChunk: 1000, idle: 1000, total: 5000 };
    const context = { run: "r", round: 1, attempt: 1, agent: "a", signal: new AbortController().signal, timeouts };
    for await (const _ of provider.stream?.(request(), context) ?? []);
    const [posted] = server.requests;
    assert.equal(posted?.request.url, "/v1/chat/completions?api-version=1");
    assert.deepInclude(posted?.request.headers, {
      authorization: "Bearer sk-1",
      "openai-organization": "org",
      "openai-project": "prj",
    });
    await provider.close?.();
    await server.stop();
  });
});
