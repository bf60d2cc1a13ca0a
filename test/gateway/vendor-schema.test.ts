import { assert, config } from "chai";
import fc from "fast-check";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import * as responses from "../plugins/openai-responses/streams.ts";
import { base64, fileData, imageUrl, name, schema, words } from "./arbitraries.ts";
import { type Gateway, gateway, opened } from "./gateway.ts";
import { VendorTypes } from "./vendor-types.ts";

type Body = Record<string, unknown>;

/** More of them: VENTURI_CASES=2000. */
const numRuns = Number(process.env.VENTURI_CASES ?? 40);
const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
const address = fc.constant("https://example.com/a");

/** Null says the same as nothing in all three APIs. */
const withoutNulls = (value: unknown): Body =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (each === null ? undefined : each))) as Body; // an object

/** A choice without tools, or of a tool that is not offered, is refused before any provider is asked. */
function chosen(sent: Body, names: (tool: Body) => unknown): Body {
  const { tool_choice: choice, ...rest } = sent;
  if (sent.tools === undefined) return rest;
  const offered = (sent.tools as Body[]).map(names);
  const wanted = typeof choice === "object" && choice !== null ? names(choice as Body) : undefined;
  return wanted === undefined || offered.includes(wanted) ? sent : rest;
}

describe("whatever the vendor's own library can send", function () {
  this.timeout(numRuns * 1_000 + 60_000);
  let open: Gateway;
  const { truncateThreshold } = config;
  before(() => {
    config.truncateThreshold = 0; // the difference is all that helps
  });
  after(() => {
    config.truncateThreshold = truncateThreshold;
  });
  afterEach(() => open.close());

  /** Sends it and returns what arrived. */
  const relay = async (path: string, body: Body): Promise<Body> => {
    const response = await open.post(path, { ...body, model: "agent" });
    const answer = await response.text();
    assert.equal(response.status, 200, answer);
    assert.isNull(response.headers.get("venturi-warnings"));
    const arrived = open.bodies().at(-1) ?? {};
    open.vendor.requests.length = 0;
    return arrived;
  };

  it("as a chat completion reaches a provider of the same wire", async () => {
    const types = new VendorTypes("openai", ["resources/chat/completions/completions.d.ts", "resources/shared.d.ts"]);
    const instead = {
      // Documented in the channel's page: what is Venturi's to say, and what goes in another form.
      ...{ model: undefined, stream: undefined, stream_options: undefined, n: undefined, max_tokens: undefined },
      ...{ functions: undefined, function_call: undefined },
      // A call without its result, and a result without its call, are no conversation.
      ...{ tool_calls: undefined, "ChatCompletionAssistantMessageParam.content": words },
      ...{ url: imageUrl, data: base64, file_data: fileData, name, parameters: schema, schema },
    };
    // A function without parameters is sent with an empty schema.
    const required = ["parameters", "ChatCompletionAssistantMessageParam.content", "file_data"];
    const make = (type: string) => types.arbitrary(type, { instead, required });
    const message = fc.oneof(
      ...["System", "Developer", "User", "Assistant"].map((role) => make(`ChatCompletion${role}MessageParam`)),
    );
    const answered = fc
      .record({
        calls: fc.array(make("ChatCompletionMessageToolCall"), { minLength: 1, maxLength: 2 }),
        result: make("ChatCompletionToolMessageParam"),
      })
      .map(({ calls, result }) => {
        const named = calls.map((call, index) => ({ ...(call as Body), id: `call_${index}` }));
        return [
          { role: "assistant", content: null, tool_calls: named },
          ...named.map(({ id }) => ({ ...(result as Body), tool_call_id: id })),
        ];
      });
    const messages = fc
      .tuple(fc.array(message, { maxLength: 3 }), fc.option(answered, { nil: [] }), words)
      .map(([before, turn, last]) => [...before, ...turn, { role: "user", content: last }]);
    const tools = fc
      .array(make("ChatCompletionTool"), { minLength: 1, maxLength: 2 })
      .filter((list) => unique(list.map((tool) => nameOf(tool as Body))));
    const request = types.arbitrary("ChatCompletionCreateParamsBase", { instead: { ...instead, messages, tools } });
    open = await gateway({ provider: "openai", settings: ", dialect: openai", agent: opened, answer: chat.text });
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const sent = chosen(
          withoutNulls(given),
          ({ function: own, custom }) => ((own ?? custom) as Body | undefined)?.name,
        );
        const { model, stream, stream_options, ...arrived } = await relay("/openai/v1/chat/completions", sent);
        assert.deepEqual(withoutNulls(arrived), sent);
      }),
      { numRuns },
    );
  });

  it("as a response's request reaches a provider of the same wire", async () => {
    const types = new VendorTypes("openai", ["resources/responses/responses.d.ts", "resources/shared.d.ts"]);
    open = await gateway({ provider: "openai-responses", agent: opened, answer: responses.text });
    const instead = {
      ...{ model: undefined, stream: undefined, stream_options: undefined },
      // Responses are stored here.
      ...{ store: undefined, background: undefined, previous_response_id: undefined, conversation: undefined },
      // A file and an image have one source; by id they are in the test beside this one.
      ...{ image_url: imageUrl, file_url: undefined, file_id: undefined, file_data: fileData },
      ...{ name, parameters: schema, schema, server_url: address, data: base64 },
    };
    // A file without a name is sent as "file".
    const required = ["parameters", "file_data", "image_url", "filename"];
    const make = (type: string) => types.arbitrary(type, { instead, required });
    const pair = (call: string, output: string) =>
      fc
        .tuple(make(call), make(output))
        .map(([one, other]) => [one, { ...(other as Body), call_id: (one as Body).call_id }]);
    const turn = fc.oneof(
      make("ResponseInputItem")
        .filter((item) => !["function_call_output", "custom_tool_call_output"].includes(String((item as Body).type)))
        .map((item) => [item]),
      pair("ResponseFunctionToolCall", "ResponseInputItem.FunctionCallOutput"),
      pair("ResponseCustomToolCall", "ResponseCustomToolCallOutput"),
    );
    const input = fc
      .tuple(fc.array(turn, { maxLength: 3 }), words)
      .map(([turns, last]) => [...turns.flat(), { role: "user", content: last }] as Body[])
      .filter((items) => unique(items.flatMap(({ type, call_id }) => (call_id ? [`${type} ${call_id}`] : []))));
    const tools = fc
      .array(make("Tool"), { minLength: 1, maxLength: 2 })
      .filter((list) => unique(list.map((tool) => (tool as Body).name ?? (tool as Body).type)));
    const request = types.arbitrary("ResponseCreateParamsBase", { instead: { ...instead, input, tools } });
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const asked = { input: [{ role: "user", content: "hello" }], ...withoutNulls(given) };
        const sent = chosen(asked, ({ name }) => name);
        const { model, stream, store, include = [], ...arrived } = await relay("/openai/v1/responses", sent);
        const { include: wanted = [], ...rest } = sent;
        assert.includeMembers(include as unknown[], wanted as unknown[]);
        assert.deepEqual(untyped(withoutNulls(arrived)), untyped(rest));
      }),
      { numRuns },
    );
  });

  it("as a message's request reaches a provider of the same wire", async () => {
    const types = new VendorTypes("@anthropic-ai/sdk", ["resources/messages/messages.d.ts"]);
    const more = "models: { plain: { chain: [up/m], cache: off } }";
    const answer = begin + stop("end_turn") + end;
    open = await gateway({
      provider: "anthropic",
      answer,
      more,
      agents: `agents: { agent: { model: plain${opened} } }`,
    });
    const instead = {
      ...{ model: undefined, stream: undefined },
      ...{ url: address, data: base64, name, input_schema: schema, schema, id: name, tool_use_id: name },
      "MessageCreateParamsBase.max_tokens": fc.integer({ min: 1, max: 99 }),
    };
    // A result without content is sent with an empty one.
    const required = ["ToolResultBlockParam.content"];
    const make = (type: string) => types.arbitrary(type, { instead, required });
    const turn = fc.tuple(make("ToolUseBlockParam"), make("ToolResultBlockParam")).map(([use, result]) => [
      { role: "assistant", content: [use] },
      { role: "user", content: [{ ...(result as Body), tool_use_id: (use as Body).id }] },
    ]);
    // Calls and results only in pairs.
    const text = make("TextBlockParam");
    const alone = { ...instead, ToolUseBlockParam: text, ToolResultBlockParam: text };
    // Only the model thinks.
    const silent = { ...alone, ThinkingBlockParam: text, RedactedThinkingBlockParam: text };
    const message = fc
      .oneof(
        types.arbitrary("MessageParam", { instead: { ...alone, role: fc.constant("assistant") } }),
        types.arbitrary("MessageParam", { instead: { ...silent, role: fc.constant("user") } }),
      )
      .map((each) => [each]);
    const messages = fc
      .tuple(fc.array(fc.oneof(message, turn), { maxLength: 3 }), words)
      .map(([before, last]) => [...before.flat(), { role: "user", content: last }]);
    const tools = fc
      .array(make("ToolUnion"), { minLength: 1, maxLength: 2 })
      .filter((list) => unique(list.map((tool) => (tool as Body).name)));
    const request = types.arbitrary("MessageCreateParamsBase", { instead: { ...instead, messages, tools } });
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const sent = chosen(withoutNulls(given), ({ name }) => name);
        const { model, stream, ...arrived } = await relay("/anthropic/v1/messages", sent);
        assert.deepEqual(inBlocks(withoutNulls(arrived)), inBlocks(sent));
      }),
      { numRuns },
    );
  });
});

const nameOf = (tool: Body): unknown => ((tool.function ?? tool.custom ?? { name: tool.type }) as Body).name;

/** An input item without a type is a message. */
const untyped = (body: Body): Body => ({
  ...body,
  input: (body.input as Body[]).map((item) => {
    const { type, ...rest } = item;
    return type === "message" ? rest : item;
  }),
});

/** A text is a list of one text block to Anthropic's API, and messages of one role in a row are one. */
function inBlocks(body: Body): Body {
  const messages: { role: unknown; content: unknown[] }[] = [];
  for (const { role, content } of body.messages as { role: unknown; content: unknown }[]) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as unknown[]);
    const last = messages.at(-1);
    if (last?.role === role) last?.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  }
  return { ...body, messages };
}
