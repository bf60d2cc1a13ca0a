import { assert } from "chai";
import fc from "fast-check";
import { type Gateway, gateway } from "../gateway/gateway.ts";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import * as responses from "../plugins/openai-responses/streams.ts";
import type { Target } from "./target.ts";
import { anyJson } from "./values.ts";

type Body = Record<string, unknown>;

interface Wire {
  readonly provider: string;
  readonly path: string;
  readonly answer: string;
  readonly asked: Body;
  /** Everything that may stand in a body. */
  readonly fields: ReadonlySet<string>;
  /** Types of tools that are not the vendor's to execute. */
  readonly tools: RegExp;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const wires: readonly Wire[] = [
  {
    provider: "openai",
    path: "/openai/v1/chat/completions",
    answer: chat.text,
    asked: { model: "agent", messages: [{ role: "user", content: "Hi" }] },
    fields: words(
      "model messages stream stream_options tools tool_choice service_tier store user temperature top_p max_completion_tokens max_tokens seed response_format audio frequency_penalty logit_bias logprobs min_p modalities parallel_tool_calls prediction presence_penalty reasoning reasoning_effort repetition_penalty stop thinking top_k top_logprobs verbosity function_call input_type truncate prompt_cache_key",
    ),
    tools: /^(function|custom)$/,
  },
  {
    provider: "openai-responses",
    path: "/openai/v1/responses",
    answer: responses.text,
    asked: { model: "agent", input: "Hi" },
    fields: words(
      "model input instructions stream tools tool_choice service_tier store user temperature top_p max_output_tokens include max_tool_calls parallel_tool_calls reasoning text top_logprobs truncation prompt_cache_key",
    ),
    tools: /^(function|custom|apply_patch|computer|computer_use_preview|local_shell|tool_search|shell|namespace)$/,
  },
  {
    provider: "anthropic",
    path: "/anthropic/v1/messages",
    answer: begin + stop("end_turn") + end,
    asked: { model: "agent", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
    fields: words(
      "model messages system stream tools tool_choice service_tier store user temperature top_p max_tokens stop_sequences thinking output_config output_format cache_control context_management top_k",
    ),
    tools: /^(undefined|null|custom|(bash|text_editor|memory|computer)_\d{8}|tool_search_tool_.*)$/,
  },
];

const known = [
  ...new Set(wires.flatMap(({ fields }) => [...fields])),
  ..."api_base prompt safety_identifier metadata extra_body provider models plugins web_search_options mcp_servers container n usage background previous_response_id conversation type functions betas speed inference_geo invented".split(
    " ",
  ),
];
/** Names of fields as nobody sends them by mistake: paths, other cases, parts of every object. */
const fieldName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...known) },
  fc.tuple(fc.constantFrom(...known), fc.constantFrom(...known)).map((path) => path.join(".")),
  fc.constantFrom(...known).map((name) => name.toUpperCase()),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "",
    ".",
    "a.b.c",
    "stream_options.include_usage",
  ),
  fc.string({ maxLength: 20 }),
);
/** Names and types of tools: the vendors' own, near misses, and texts that are hard on whoever shows or searches them. */
export const toolName = fc.oneof(
  fc.constantFrom(
    ..."function custom web_search web_search_20250305 mcp mcp_toolset code_interpreter code_execution_20250825 file_search image_generation computer bash_20250124 local_shell shell namespace Function MCP".split(
      " ",
    ),
    ...[
      "__proto__",
      "constructor",
      "",
      " ",
      "a.b",
      "look\n",
      "\u202elook",
      "-eyJ".repeat(500),
      "x".repeat(5_000),
      "\ud800",
    ],
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const tool = fc.oneof(
  fc.record(
    { type: toolName, name: toolName, server_url: fc.constant("https://attacker.example") },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    type: fc.constant("namespace"),
    name: toolName,
    tools: fc.array(fc.record({ type: toolName, name: toolName, parameters: fc.constant({}) }), { maxLength: 3 }),
  }),
  fc.record({ type: fc.constant("function"), function: fc.record({ name: toolName }), name: toolName }),
  fc.record({ name: toolName, input_schema: fc.constant({ type: "object" }) }),
  fc.dictionary(fieldName, anyJson, { maxKeys: 4 }),
);

const added = fc.dictionary(fieldName, anyJson, { maxKeys: 6 });
const request = fc.record({
  wire: fc.constantFrom(...wires),
  body: added,
  tools: fc.option(fc.array(tool, { maxLength: 4 }), { nil: undefined }),
  message: fc.option(added, { nil: undefined }),
  called: toolName,
});

const options = "options: { service_tier: flex, store: false, user: operator }";

/** Whatever callers add, the vendor gets the operator's fields, what usage is counted by, and no tool of its own to execute. */
export async function openNative(): Promise<{ target: Target; close(): Promise<void> }> {
  const open = new Map<string, Gateway>();
  for (const { provider, answer } of wires) {
    open.set(provider, await gateway({ provider, answer, agent: `, instructions: RULES, ${options}` }));
  }
  const target: Target = {
    name: "native",
    property: () =>
      fc.asyncProperty(request, async ({ wire, body, tools, message, called }) => {
        const service = open.get(wire.provider) as Gateway; // one for each
        service.vendor.requests.length = 0;
        if (wire.provider === "openai") service.answer(answered(called));
        const asked = {
          ...body,
          ...wire.asked,
          ...(tools === undefined ? {} : { tools }),
          ...(message === undefined ? {} : { messages: [{ ...message, role: "user", content: "Hi" }] }),
        };
        const response = await service.post(wire.path, asked);
        const text = await response.text();
        assert.notEqual(response.status, 500, text.slice(0, 500));
        for (const sent of service.bodies()) check(wire, sent);
        const view = (await (await fetch(`${service.url}/v1/service`)).json()) as { providers: Body[] };
        assert.equal(view.providers[0]?.breaker, "closed");
      }),
  };
  return { target, close: async () => void (await Promise.all([...open.values()].map((each) => each.close()))) };
}

const answered = (name: string): string =>
  chat.fragment(`"index":0,"id":"a","type":"function","function":{"name":${JSON.stringify(name)},"arguments":"{}"}`) +
  chat.calls +
  chat.usage +
  chat.done;

function check(wire: Wire, sent: Body): void {
  for (const field of Object.keys(sent)) assert.isTrue(wire.fields.has(field), `${field} was passed on`);
  assert.include(sent, { model: "m", service_tier: "flex", store: false, user: "operator" });
  if (wire.provider === "openai" && sent.stream === true)
    assert.deepEqual(sent.stream_options, { include_usage: true });
  assert.include(JSON.stringify(sent), "RULES");
  for (const each of (sent.tools ?? []) as Body[]) checkTool(wire, each);
}

function checkTool(wire: Wire, each: Body): void {
  assert.match(String(each.type), wire.tools);
  if (each.type === "namespace") for (const inner of (each.tools ?? []) as Body[]) checkTool(wire, inner);
}
