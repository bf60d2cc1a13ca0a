import { assert } from "chai";
import fc from "fast-check";
import * as chat from "../plugins/openai/streams.ts";
import {
  argumentsText,
  base64,
  effort,
  fileData,
  imageUrl,
  json,
  name,
  schema,
  share,
  some,
  tier,
  words,
} from "./arbitraries.ts";
import { type Gateway, gateway, opened } from "./gateway.ts";

type Body = Record<string, unknown>;

// Transcribed from ChatCompletionCreateParams of the `openai` package.
const textItem = fc.record({ type: fc.constant("text"), text: words });
const refusalItem = fc.record({ type: fc.constant("refusal"), refusal: words });
const imageItem = fc.record({
  type: fc.constant("image_url"),
  image_url: fc.record({ url: imageUrl, detail: fc.constantFrom("auto", "low", "high") }, { requiredKeys: ["url"] }),
});
const audioItem = fc.record({
  type: fc.constant("input_audio"),
  input_audio: fc.record({ data: base64, format: fc.constantFrom("wav", "mp3") }),
});
const fileItem = fc.record({
  type: fc.constant("file"),
  file: fc.oneof(fc.record({ file_data: fileData, filename: fc.constant("a.pdf") }), fc.record({ file_id: name })),
});
const texts = fc.oneof(words, fc.array(textItem, { minLength: 1, maxLength: 3 }));
const userContent = fc.oneof(
  words,
  fc.array(fc.oneof(textItem, imageItem, audioItem, fileItem), { minLength: 1, maxLength: 3 }),
);
const named = { name };
const message = fc.oneof(
  fc.record(
    { role: fc.constantFrom("system", "developer"), content: texts, ...named },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record({ role: fc.constant("user"), content: userContent, ...named }, { requiredKeys: ["role", "content"] }),
  fc.record(
    {
      role: fc.constant("assistant"),
      content: fc.oneof(words, fc.array(fc.oneof(textItem, refusalItem), { minLength: 1, maxLength: 2 })),
      refusal: fc.constantFrom(null, "no"),
      audio: fc.record({ id: name }),
      ...named,
    },
    { requiredKeys: ["role", "content"] },
  ),
);
const call = (id: string) =>
  fc.oneof(
    fc.record({
      id: fc.constant(id),
      type: fc.constant("function"),
      function: fc.record({ name, arguments: argumentsText }),
    }),
    fc.record({ id: fc.constant(id), type: fc.constant("custom"), custom: fc.record({ name, input: words }) }),
  );
const toolTurn = fc
  .tuple(
    fc.integer({ min: 1, max: 2 }),
    fc.nat(1_000_000),
    fc.constantFrom(null, "", "Let me see."),
    fc.array(texts, { minLength: 2, maxLength: 2 }),
  )
  .chain(([count, seed, content, results]) =>
    fc
      .tuple(...Array.from({ length: count }, (_, index) => call(`call_${seed}_${index}`)))
      .map((calls) => [
        { role: "assistant", content, tool_calls: calls },
        ...calls.map(({ id }, index) => ({ role: "tool", tool_call_id: id, content: results[index] })),
      ]),
  );
const messages = fc
  .tuple(
    fc.array(
      fc.oneof(
        message.map((each) => [each]),
        toolTurn,
      ),
      { maxLength: 3 },
    ),
    words,
  )
  .map(([turns, last]) => [...turns.flat(), { role: "user", content: last }])
  .filter((list) => unique(list.flatMap((each) => ("tool_calls" in each ? each.tool_calls.map(({ id }) => id) : []))));
const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

const tool = fc.oneof(
  fc.record({
    type: fc.constant("function"),
    function: fc.record(
      { name, description: words, parameters: schema, strict: fc.boolean() },
      { requiredKeys: ["name", "parameters"] },
    ),
  }),
  fc.record({
    type: fc.constant("custom"),
    custom: fc.record({ name, description: words, format: fc.constant({ type: "text" }) }, { requiredKeys: ["name"] }),
  }),
  fc.constant({ type: "web_search" }),
);
const toolName = (each: Body): unknown => ((each.function ?? each.custom ?? { name: each.type }) as Body).name;
const tools = fc
  .array(tool, { minLength: 1, maxLength: 3 })
  .filter((list) => unique(list.map(toolName)))
  .chain((list) => fc.record({ tools: fc.constant(list), tool_choice: choiceOf(list) }, { requiredKeys: ["tools"] }));
const choiceOf = (list: readonly Body[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom("auto", "none", "required"),
    fc.constant({ type: "allowed_tools", allowed_tools: { mode: "auto", tools: list.slice(0, 1) } }),
    fc
      .constantFrom(...list)
      .map((each) =>
        each.type === "custom"
          ? { type: "custom", custom: { name: toolName(each) } }
          : { type: "function", function: { name: toolName(each) } },
      ),
  );
const format = fc.oneof(
  fc.constantFrom({ type: "text" }, { type: "json_object" }),
  fc.record({
    type: fc.constant("json_schema"),
    json_schema: fc.record(
      { name, schema, strict: fc.boolean(), description: words },
      { requiredKeys: ["name", "schema"] },
    ),
  }),
);
const settings = some({
  frequency_penalty: share,
  presence_penalty: share,
  logit_bias: fc.constant({ "17": -1 }),
  logprobs: fc.boolean(),
  top_logprobs: fc.integer({ min: 0, max: 5 }),
  max_completion_tokens: fc.integer({ min: 1, max: 99 }),
  metadata: fc.dictionary(name, words, { maxKeys: 2 }),
  modalities: fc.constant(["text"]),
  parallel_tool_calls: fc.boolean(),
  prediction: fc.record({ type: fc.constant("content"), content: words }),
  prompt_cache_key: name,
  prompt_cache_retention: fc.constantFrom("in-memory", "24h"),
  reasoning_effort: effort,
  response_format: format,
  safety_identifier: name,
  seed: fc.integer(),
  service_tier: tier,
  stop: fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 2 })),
  store: fc.boolean(),
  temperature: share,
  top_p: share,
  user: name,
  verbosity: fc.constantFrom("low", "medium", "high"),
  web_search_options: fc.constant({ search_context_size: "low" }),
  invented_tomorrow: json,
});
const request = fc.tuple(messages, fc.option(tools, { nil: {} }), settings).map(([list, offered, set]) => ({
  messages: list,
  ...offered,
  ...set,
}));

describe("every field of a chat completion", function () {
  this.timeout(180_000);
  let open: Gateway;
  before(async () => {
    open = await gateway({ provider: "openai", settings: ", dialect: openai", agent: opened, answer: chat.text });
  });
  after(() => open.close());

  it("arrives at a provider of the same wire as it was sent, but for the model and how it is streamed", async () => {
    await fc.assert(
      fc.asyncProperty(request, async (sent) => {
        const response = await open.post("/openai/v1/chat/completions", { model: "agent", ...sent });
        const answer = await response.text();
        assert.equal(response.status, 200, answer);
        assert.isNull(response.headers.get("venturi-warnings"));
        const { model, stream, stream_options, ...arrived } = open.bodies().at(-1) ?? {};
        assert.deepEqual([model, stream, stream_options], ["m", true, { include_usage: true }]);
        assert.deepEqual(arrived, JSON.parse(JSON.stringify(sent)));
        open.vendor.requests.length = 0;
      }),
      { numRuns: 80 },
    );
  });
});
