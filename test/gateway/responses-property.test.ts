import { assert } from "chai";
import fc from "fast-check";
import * as wire from "../plugins/openai-responses/streams.ts";
import {
  argumentsText,
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

// Transcribed from ResponseCreateParams of the `openai` package.
const textItem = fc.record({ type: fc.constant("input_text"), text: words });
const imageItem = fc.record(
  { type: fc.constant("input_image"), image_url: imageUrl, detail: fc.constantFrom("auto", "low", "high") },
  { requiredKeys: ["type", "image_url"] },
);
const fileItem = fc.oneof(
  fc.record({ type: fc.constant("input_file"), file_data: fileData, filename: fc.constant("a.pdf") }),
  fc.record({ type: fc.constant("input_file"), file_id: name }),
);
const content = fc.oneof(words, fc.array(fc.oneof(textItem, imageItem, fileItem), { minLength: 1, maxLength: 3 }));
const asked = fc.record({ role: fc.constantFrom("user", "system", "developer"), content });
const said = fc.record({
  type: fc.constant("message"),
  id: name.map((id) => `msg_${id}`),
  role: fc.constant("assistant"),
  status: fc.constant("completed"),
  content: fc.array(
    fc.oneof(
      fc.record({
        type: fc.constant("output_text"),
        text: words,
        annotations: fc.constant([]),
        logprobs: fc.constant([]),
      }),
      fc.record({ type: fc.constant("refusal"), refusal: words }),
    ),
    { minLength: 1, maxLength: 2 },
  ),
});
const callTurn = fc
  .tuple(
    fc.nat(1_000_000),
    name,
    argumentsText,
    fc.oneof(words, fc.array(textItem, { minLength: 1, maxLength: 2 })),
    fc.boolean(),
  )
  .map(([seed, called, text, output, hasId]) => [
    {
      type: "function_call",
      call_id: `call_${seed}`,
      name: called,
      arguments: text,
      ...(hasId ? { id: `fc_${seed}`, status: "completed" } : {}),
    },
    { type: "function_call_output", call_id: `call_${seed}`, output },
  ]);
const customTurn = fc.tuple(fc.nat(1_000_000), name, words, words).map(([seed, called, input, output]) => [
  { type: "custom_tool_call", call_id: `ctc_${seed}`, name: called, input },
  { type: "custom_tool_call_output", call_id: `ctc_${seed}`, output },
]);
const vendors = fc.oneof(
  fc.record({
    type: fc.constant("reasoning"),
    id: name.map((id) => `rs_${id}`),
    summary: fc.constant([]),
    encrypted_content: words,
  }),
  fc.record({
    type: fc.constant("web_search_call"),
    id: name.map((id) => `ws_${id}`),
    status: fc.constant("completed"),
    action: json,
  }),
  fc.record({ type: fc.constant("compaction"), id: name, encrypted_content: words }),
  fc.record({ type: fc.constant("item_reference"), id: name.map((id) => `msg_${id}`) }),
);
const turn = fc.oneof(
  asked.map((each) => [each]),
  said.map((each) => [each]),
  vendors.map((each) => [each]),
  callTurn,
  customTurn,
);
const input = fc
  .tuple(fc.array(turn, { maxLength: 4 }), words)
  .map(([turns, last]): Body[] => [...(turns.flat() as Body[]), { role: "user", content: last }])
  .filter((items) =>
    unique(items.flatMap(({ type, call_id }) => (String(type).endsWith("call") && call_id ? [call_id] : []))),
  );
const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

const functionTool = fc.record(
  { type: fc.constant("function"), name, description: words, parameters: schema, strict: fc.boolean() },
  { requiredKeys: ["type", "name", "parameters"] },
);
const tool: fc.Arbitrary<Body> = fc.oneof(
  functionTool,
  fc.record(
    {
      type: fc.constant("custom"),
      name,
      description: words,
      format: fc.constant({ type: "grammar", syntax: "lark", definition: "x" }),
    },
    { requiredKeys: ["type", "name"] },
  ),
  fc.record({
    type: fc.constant("namespace"),
    name,
    description: words,
    tools: fc.array(functionTool, { minLength: 1, maxLength: 2 }),
  }),
  fc.constantFrom(
    { type: "web_search", search_context_size: "low" },
    { type: "local_shell" },
    { type: "image_generation" },
  ),
  fc.record({ type: fc.constant("mcp"), server_label: name, server_url: fc.constant("https://example.com") }),
);
const names = (each: Body): unknown[] => {
  const inner = Array.isArray(each.tools) ? each.tools.map((one) => one.name) : [];
  return inner.length > 0 ? inner : each.name === undefined ? [] : [each.name];
};
const offered = fc
  .array(tool, { minLength: 1, maxLength: 3 })
  .filter(
    (list) =>
      unique(list.flatMap(names)) &&
      unique(list.flatMap((each) => (each.name || each.type === "mcp" ? [] : [each.type]))),
  )
  .chain((list) =>
    fc.record(
      {
        tools: fc.constant(list),
        tool_choice: fc.constantFrom("auto", "none", "required", {
          type: "allowed_tools",
          mode: "auto",
          tools: list.slice(0, 1),
        }),
      },
      { requiredKeys: ["tools"] },
    ),
  );
const format = fc.oneof(
  fc.constantFrom({ type: "text" }, { type: "json_object" }),
  fc.record(
    { type: fc.constant("json_schema"), name, schema, strict: fc.boolean(), description: words },
    { requiredKeys: ["type", "name", "schema"] },
  ),
);
const settings = some({
  include: fc.subarray(
    ["web_search_call.action.sources", "message.output_text.logprobs", "reasoning.encrypted_content"],
    { minLength: 1 },
  ),
  instructions: words,
  max_output_tokens: fc.integer({ min: 1, max: 99 }),
  max_tool_calls: fc.integer({ min: 1, max: 9 }),
  metadata: fc.dictionary(name, words, { maxKeys: 2 }),
  parallel_tool_calls: fc.boolean(),
  prompt: fc.record({ id: name, variables: json }),
  prompt_cache_key: name,
  reasoning: some({ effort, summary: fc.constantFrom("auto", "concise", "detailed") }),
  safety_identifier: name,
  service_tier: tier,
  temperature: share,
  text: fc.record({ format, verbosity: fc.constantFrom("low", "medium", "high") }, { requiredKeys: ["format"] }),
  top_logprobs: fc.integer({ min: 0, max: 5 }),
  top_p: share,
  truncation: fc.constantFrom("auto", "disabled"),
  user: name,
  invented_tomorrow: json,
});
const request = fc
  .tuple(input, fc.option(offered, { nil: {} }), settings)
  .map(([items, tools, set]) => ({ input: items, ...tools, ...set }));

describe("every field of a response's request", function () {
  this.timeout(180_000);
  let open: Gateway;
  before(async () => {
    open = await gateway({ provider: "openai-responses", agent: opened, answer: wire.text });
  });
  after(() => open.close());

  it("arrives at a provider of the same wire as it was sent, but for the model, the stream and where responses are stored", async () => {
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const sent = JSON.parse(JSON.stringify(given)) as Body;
        const response = await open.post("/openai/v1/responses", { model: "agent", ...sent });
        const answer = await response.text();
        assert.equal(response.status, 200, answer);
        assert.isNull(response.headers.get("venturi-warnings"));
        const { model, stream, store, include, ...arrived } = open.bodies().at(-1) ?? {};
        assert.deepEqual([model, stream, store], ["m", true, false]);
        const { include: wanted = [], ...rest } = sent;
        // Reasoning that nobody stores has to come along, whoever asked for it.
        assert.includeMembers((include ?? []) as unknown[], wanted as unknown[]);
        assert.deepEqual(arrived, rest);
        open.vendor.requests.length = 0;
      }),
      { numRuns: 80 },
    );
  });
});
