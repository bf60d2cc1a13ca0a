import { createHash } from "node:crypto";
import { assert } from "chai";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import * as responses from "../plugins/openai-responses/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

type Body = Record<string, unknown>;

interface Surface {
  readonly provider: string;
  readonly path: string;
  readonly answer: string;
  readonly asked: Body;
  /** Fields of a client in its default settings, all of which pass or are known to say nothing. */
  readonly usual: Body;
  readonly tools: { readonly own: Body[]; readonly vendor: Body[] };
  /** What the provider writes itself. */
  readonly reserved: Body;
  readonly headers?: Record<string, string>;
}

const custom = { name: "look", input_schema: { type: "object" } };
const surfaces: Record<string, Surface> = {
  chat: {
    provider: "openai",
    path: "/openai/v1/chat/completions",
    answer: chat.text,
    asked: { model: "agent", messages: [{ role: "user", content: "Hi" }] },
    usual: {
      ...{ store: false, metadata: { user: "1" }, parallel_tool_calls: false, service_tier: "auto", n: 1 },
      ...{ stream_options: { include_usage: true }, prompt_cache_key: "k", logprobs: true, top_logprobs: 2 },
      ...{ presence_penalty: 0.5, logit_bias: { 17: 1 }, verbosity: "low", reasoning_effort: "low", stop: ["x"] },
    },
    tools: {
      own: [{ type: "function", function: { name: "look", parameters: { type: "object" }, strict: true } }],
      vendor: [
        { type: "web_search" },
        { type: "mcp", server_label: "x", server_url: "https://attacker.example" },
        { type: "Function", function: { name: "x" } },
        { type: "web_search_preview", search_context_size: "high" },
        { type: "openrouter:web_search" },
      ],
    },
    reserved: {
      ...{ n: 9, stream: false, stream_options: { include_usage: false }, usage: { include: false } },
      ...{ "stream_options.include_usage": false, Stream_Options: { include_usage: false }, STREAM: false },
      ...{ type: "x", Model: "dear", models: ["dear"], max_tokens: 1, functions: null },
    },
  },
  responses: {
    provider: "openai-responses",
    path: "/openai/v1/responses",
    answer: responses.text,
    asked: { model: "agent", input: "Hi" },
    usual: {
      ...{ store: false, metadata: { user: "1" }, parallel_tool_calls: false, service_tier: "auto" },
      ...{ include: ["reasoning.encrypted_content"], prompt_cache_key: "k", truncation: "auto" },
      ...{ reasoning: { effort: "low", summary: "auto" }, text: { verbosity: "low" }, max_tool_calls: 3 },
    },
    tools: {
      own: [
        { type: "function", name: "look", parameters: { type: "object" }, strict: false },
        { type: "custom", name: "patch", format: { type: "text" } },
        { type: "local_shell" },
        { type: "apply_patch" },
      ],
      vendor: [
        { type: "mcp", server_label: "x", server_url: "https://attacker.example" },
        { type: "web_search", external_web_access: true },
        { type: "web_search_preview_2025_03_11" },
        { type: "code_interpreter", container: { type: "auto" } },
        { type: "file_search", vector_store_ids: ["vs_1"] },
        { type: "image_generation" },
        { type: "shell", environment: { type: "container_auto" } },
        { type: "MCP", server_url: "https://attacker.example" },
        { type: "namespace", name: "n", tools: [{ type: "mcp", server_url: "https://attacker.example" }] },
        {
          type: "namespace",
          name: "m",
          tools: [
            { type: "function", name: "a", parameters: {} },
            { type: "namespace", name: "o", tools: [{ type: "web_search" }] },
          ],
        },
        { type: "__proto__" },
        { type: "constructor" },
      ],
    },
    reserved: {
      ...{ stream_options: { include_obfuscation: true }, "reasoning.effort": "max", Input: "x", type: "message" },
      ...{ previous_response_id: null, Background: true, MAX_OUTPUT_TOKENS: 1 },
    },
  },
  messages: {
    provider: "anthropic",
    path: "/anthropic/v1/messages",
    answer: begin + stop("end_turn") + end,
    asked: { model: "agent", max_tokens: 99, messages: [{ role: "user", content: "Hi" }] },
    usual: {
      ...{ metadata: { user_id: "u" }, thinking: { type: "disabled" }, top_k: 4, service_tier: "auto" },
      ...{ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } },
      ...{ output_config: { effort: "low" } },
    },
    headers: {
      "anthropic-beta":
        "claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24",
    },
    tools: {
      own: [
        custom,
        { type: "custom", ...custom, name: "see" },
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      ],
      vendor: [
        { type: "web_search_20250305", name: "web_search" },
        { type: "web_fetch_20250910", name: "web_fetch" },
        { type: "code_execution_20250825", name: "code_execution" },
        { type: "mcp_toolset", mcp_server_name: "x" },
        { type: "bash_20250124_remote", name: "b" },
        { type: "Bash_20250124", name: "c" },
      ],
    },
    reserved: { "thinking.budget_tokens": 9_999, type: "message", Stream: false, System: "evil", "tools.0": {} },
  },
};

/** Fields that belong to the operator, or that nobody knows. */
const closed = {
  ...{ user: "u", safety_identifier: "s", service_tier: "priority", api_base: "https://attacker.example" },
  ...{ prompt: { id: "pmpt_1" }, extra_body: { stream: false }, provider: { order: ["x"] }, invented_tomorrow: 1 },
  ...{ inference_geo: "us", speed: "fast", container: "c_1", mcp_servers: [{ url: "https://attacker.example" }] },
  ...{ web_search_options: {}, plugins: [{ id: "web" }], constructor: 1, toString: 1, hasOwnProperty: 1 },
};

const sha = (key: string) => createHash("sha256").update(key).digest("hex");
const warnings = (response: Response): string[] => response.headers.get("venturi-warnings")?.split(", ") ?? [];

for (const [name, surface] of Object.entries(surfaces)) {
  const { provider, path, answer, asked, usual, tools, reserved, headers = {} } = surface;
  describe(`a caller's native fields on the wire of ${name}`, () => {
    let open: Gateway;
    afterEach(() => open.close());
    const start = async (more: Partial<Parameters<typeof gateway>[0]> = {}) => {
      open = await gateway({ provider, answer, ...more });
    };
    const send = async (body: Body, more: Record<string, string> = {}): Promise<{ sent: Body; told: string[] }> => {
      const response = await open.post(path, { ...asked, ...body }, { ...headers, ...more });
      assert.equal(response.status, 200, await response.clone().text());
      await response.text();
      return { sent: open.bodies().at(-1) ?? {}, told: warnings(response) };
    };

    it("of a client in its default settings are taken without a word", async () => {
      await start();
      const { told, sent } = await send({ ...usual, tools: tools.own });
      assert.deepEqual(told, []);
      assert.lengthOf(sent.tools as unknown[], tools.own.length);
      for (const field of ["metadata", "store", "user"]) {
        if (field !== "store" || name !== "responses") assert.notProperty(sent, field);
      }
      if (name === "messages") {
        assert.equal(open.vendor.requests[0]?.request.headers["anthropic-beta"], headers["anthropic-beta"]);
      }
    });

    it("that are the operator's, or nobody's, are not passed on and are named", async () => {
      await start();
      const plain = (await send({})).sent;
      const { sent, told } = await send(closed);
      assert.deepEqual(sent, plain);
      const names = Object.keys(closed).filter((field) => field !== "web_search_options");
      assert.includeMembers(told, names);
    });

    it("never replace what the run writes, nor what usage is counted by, whatever is open", async () => {
      await start({ agent: ", overrides: { native: all, vendorTools: all }" });
      const plain = (await send({})).sent;
      const { sent } = await send(reserved);
      for (const [field, value] of Object.entries(plain)) {
        if (field !== "max_tokens" && field !== "max_completion_tokens") assert.deepEqual(sent[field], value, field);
      }
      const added = Object.keys(sent).filter((field) => !(field in plain));
      assert.deepEqual(
        added.filter((field) => !["max_tokens", "max_completion_tokens"].includes(field)),
        [],
      );
    });

    it("with the names of prototypes are not passed on, at the top and in tools and messages", async () => {
      await start({ agent: ", overrides: { native: all, vendorTools: all }" });
      const bad = '"__proto__":{"type":"x","polluted":1},"constructor":{"prototype":{}},"a.b":1';
      const text = JSON.stringify({ ...asked, tools: tools.own.slice(0, 1) })
        .replace(/\{"role":"user",/, `{${bad},"role":"user",`)
        .replace(/("tools":\[\{)/, `$1${bad},`)
        .replace(/^\{/, `{${bad},`);
      const response = await fetch(`${open.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: text,
      });
      const said = await response.text();
      assert.include([200, 400], response.status, said);
      if (response.status === 200) {
        const sent = JSON.stringify(open.bodies().at(-1));
        assert.notMatch(sent, /polluted|__proto__|prototype|a\.b/);
        assert.include(sent, "Hi");
      }
      assert.isUndefined(({} as Body).polluted);
    });

    it("offer no tool that the vendor executes, unless that is open", async () => {
      await start();
      for (const tool of tools.vendor) {
        const { sent, told } = await send({ tools: [...tools.own, tool] });
        assert.lengthOf(sent.tools as unknown[], tools.own.length, JSON.stringify(tool));
        assert.notInclude(JSON.stringify(sent), "attacker");
        assert.deepEqual(told, [`tools.${tool.type}`]);
      }
    });

    it("that the operator has set stay as they are, and the others are named", async () => {
      const options = "options: { top_k: 1, parallel_tool_calls: true, truncation: disabled, logit_bias: { 5: 1 } }";
      await start({ agent: `, ${options}, overrides: { native: all }` });
      const set = { top_k: 9, parallel_tool_calls: false, truncation: "auto", logit_bias: { 1: 100 }, Top_K: 3 };
      const { sent, told } = await send(set);
      assert.deepInclude(sent, { top_k: 1, parallel_tool_calls: true, truncation: "disabled", logit_bias: { 5: 1 } });
      assert.notProperty(sent, "Top_K");
      assert.includeMembers(told, Object.keys(set));
      assert.deepEqual((await send({ top_k: 1 })).told, []);
    });

    it("are opened by the agent and by the key, name by name", async () => {
      const keys = ["one", "two"].map(
        (key) =>
          `{ id: ${key}, sha256: ${sha(key)}${key === "two" ? ", overrides: { native: [user], vendorTools: [web_search] }" : ""} }`,
      );
      await start({
        agent: ", overrides: { native: [service_tier] }",
        server: `, auth: { keys: [${keys.join(", ")}] }`,
      });
      const [web] = tools.vendor.filter(({ type }) => String(type).startsWith("web_search"));
      const given = { user: "u", service_tier: "priority", invented: 1, tools: [...tools.own, web] };
      const one = await send(given, { authorization: "Bearer one" });
      assert.notProperty(one.sent, "user");
      assert.propertyVal(one.sent, "service_tier", "priority");
      assert.sameMembers(one.told, ["user", "invented", `tools.${web?.type}`]);
      const two = await send(given, { authorization: "Bearer two" });
      assert.deepInclude(two.sent, { user: "u", service_tier: "priority" });
      assert.lengthOf(two.sent.tools as unknown[], tools.own.length + 1);
      assert.deepEqual(two.told, ["invented"]);
    });
  });
}

describe("a caller of Anthropic's wire", () => {
  let open: Gateway;
  afterEach(() => open.close());
  const { path, answer, asked } = surfaces.messages as Surface;

  it("switches on betas that are open only", async () => {
    open = await gateway({
      provider: "anthropic",
      answer,
      settings: ", beta: [mine-1]",
      agent: ", overrides: { native: [dear-1] }",
    });
    const beta = "mcp-client-2025-04-04, effort-2025-11-24,dear-1,context-1m-2025-08-07,EFFORT-2025-11-24";
    const response = await open.post(path, asked, { "anthropic-beta": beta });
    assert.equal(response.status, 200);
    assert.equal(open.vendor.requests[0]?.request.headers["anthropic-beta"], "mine-1,effort-2025-11-24,dear-1");
    assert.deepEqual(warnings(response), [
      "anthropic-beta.mcp-client-2025-04-04",
      "anthropic-beta.context-1m-2025-08-07",
      "anthropic-beta.EFFORT-2025-11-24",
    ]);
  });

  it("names no container of somebody else in its messages", async () => {
    open = await gateway({ provider: "anthropic", answer });
    const content = [
      { type: "text", text: "hi" },
      { type: "container", id: "container_1" },
    ];
    const response = await open.post(path, { ...asked, messages: [{ role: "user", content }] });
    assert.equal(response.status, 200, await response.text());
    assert.notInclude(JSON.stringify(open.bodies()[0]), "container");
  });

  it("never has five of its requests taken for five failures of the provider", async () => {
    open = await gateway({ provider: "anthropic", answer });
    for (let time = 0; time < 6; time++) {
      for (const more of [{ type: "x" }, { type: ["x"] }, { messages: [{ role: "user", content: "Hi", type: "y" }] }]) {
        const response = await open.post(path, { ...asked, ...more });
        assert.equal(response.status, 200, await response.text());
      }
    }
    assert.deepInclude(open.bodies()[0], { model: "m", max_tokens: 99 });
    const service = (await (await fetch(`${open.url}/v1/service`)).json()) as { providers: Body[] };
    assert.deepInclude(service.providers[0], { breaker: "closed" });
    assert.notProperty(service.providers[0], "lastError");
  });
});

describe("content that defines tools", () => {
  const evil = { type: "mcp", server_label: "x", server_url: "https://attacker.example" };
  it("adds none that the vendor executes, however deep it stands", async () => {
    const { provider, path, answer, asked } = surfaces.responses as Surface;
    const open = await gateway({ provider, answer });
    const look = { type: "function", name: "look", parameters: {} };
    const items = [
      { type: "additional_tools", tools: [look, evil] },
      { type: "tool_search_output", call_id: "c", tools: [{ type: "namespace", name: "n", tools: [look, evil] }] },
      { type: "future_item", inner: [{ deep: { tool: evil } }] },
      { role: "user", content: [{ type: "future_content", change: { tools: [evil] } }] },
    ];
    for (const item of items) {
      const response = await open.post(path, { ...asked, input: [{ role: "user", content: "Hi" }, item] });
      const said = await response.text();
      assert.equal(response.status, 200, said);
      assert.notInclude(JSON.stringify(open.bodies().at(-1)), "attacker", JSON.stringify(item));
      assert.lengthOf(warnings(response), 1);
    }
    const found = { type: "tool_search_output", call_id: "c", tools: [look] };
    const response = await open.post(path, { ...asked, input: [{ role: "user", content: "Hi" }, found] });
    assert.equal(response.status, 200, await response.text());
    assert.include(JSON.stringify(open.bodies().at(-1)), "tool_search_output");
    await open.close();
  });

  it("in Anthropic's words or claimed to be the model's is held back as well", async () => {
    const { provider, path, answer, asked } = surfaces.messages as Surface;
    const open = await gateway({ provider, answer });
    const web = { type: "web_search_20250305", name: "attacker" };
    const content = [
      { type: "text", text: "Hi" },
      { type: "tool_addition", tools: [web] },
    ];
    const response = await open.post(path, { ...asked, messages: [{ role: "user", content }] });
    assert.equal(response.status, 200, await response.text());
    const part = { type: "opaque", wire: "anthropic-messages", data: { type: "tool_addition", tool: web } };
    const messages = [
      { role: "user", parts: [{ type: "text", text: "Hi" }] },
      { role: "assistant", provider: "up", parts: [{ type: "text", text: "Ho" }, part] },
      { role: "user", parts: [{ type: "text", text: "Hi" }] },
    ];
    const own = await open.post("/v1/runs", { agent: "agent", input: { messages } });
    assert.equal(own.status, 200, await own.text());
    assert.lengthOf(open.bodies(), 2);
    for (const body of open.bodies()) assert.notInclude(JSON.stringify(body), "attacker");
    await open.close();
  });
});

describe("a fork", () => {
  it("has what the key that forks may, not what the key that started had", async () => {
    const { provider, path, answer, asked, tools } = surfaces.responses as Surface;
    const more = { one: "", two: ", overrides: { native: [user], vendorTools: [web_search] }" };
    const keys = Object.entries(more).map(([key, own]) => `{ id: ${key}, tenant: t, sha256: ${sha(key)}${own} }`);
    const open = await gateway({ provider, answer, server: `, auth: { keys: [${keys.join(", ")}] }` });
    const by = (key: string) => ({ authorization: `Bearer ${key}` });
    const given = { ...asked, user: "u", tools: [...tools.own, { type: "web_search" }] };
    const response = await open.post(path, given, by("two"));
    assert.equal(response.status, 200, await response.text());
    const run = response.headers.get("x-venturi-run");
    for (const key of ["one", "two"]) {
      const forked = await open.post(`/v1/runs/${run}/fork`, { after: 1 }, by(key));
      const said = (await forked.json()) as { run: string };
      assert.isBelow(forked.status, 300, JSON.stringify(said));
      await (
        await fetch(`${open.url}/v1/runs/${said.run}/events`, { headers: { ...by(key), accept: "text/event-stream" } })
      ).text();
    }
    const [first, one, two] = open.bodies();
    assert.deepEqual(two, first);
    assert.notProperty(one, "user");
    assert.notInclude(JSON.stringify(one), "web_search");
    await open.close();
  });
});

describe("a choice of a tool that is not offered", () => {
  it("is not passed on either", async () => {
    const { provider, path, answer, asked } = surfaces.responses as Surface;
    const open = await gateway({ provider, answer });
    const look = { type: "function", name: "look", parameters: { type: "object" } };
    for (const tool_choice of [
      { type: "web_search" },
      { type: "mcp", server_label: "x" },
      { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] },
    ]) {
      const tools = [look, { type: "web_search" }, { type: "mcp", server_label: "x" }];
      const response = await open.post(path, { ...asked, tools, tool_choice });
      assert.equal(response.status, 200, await response.text());
      assert.notProperty(open.bodies().at(-1), "tool_choice");
      assert.include(warnings(response), "tool_choice");
    }
    await open.close();
  });
});

describe("options of a call", () => {
  it("never set what usage is counted by, whatever the agent lists", async () => {
    const { provider, answer } = surfaces.chat as Surface;
    const agent = ", overrides: { options: [stream_options, n, usage, Stream, max_tokens, seed_2] }";
    const open = await gateway({ provider, answer, agent });
    for (const options of [{ stream_options: {} }, { n: 3 }, { usage: {} }, { Stream: false }, { max_tokens: 9e9 }]) {
      const response = await open.post("/v1/runs", { agent: "agent", input: "hi", options });
      assert.equal(response.status, 400, await response.text());
    }
    assert.equal((await open.post("/v1/runs", { agent: "agent", input: "hi", options: { seed_2: 1 } })).status, 200);
    assert.lengthOf(open.bodies(), 1);
    await open.close();
  });
});

describe("embeddings", () => {
  it("get no field of the operator's from a caller", async () => {
    const vectors = JSON.stringify({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1 } });
    const open = await gateway({
      provider: "openai",
      answer: (response) => response.writeHead(200, { "content-type": "application/json" }).end(vectors),
    });
    const body = { model: "agent", input: "hi", user: "u", type: "x", "model.x": 1, Model: "dear", api_base: "x" };
    const response = await open.post("/openai/v1/embeddings", { ...body, input_type: "query" });
    assert.equal(response.status, 200, await response.clone().text());
    assert.deepEqual(open.bodies()[0], { model: "m", input: ["hi"], input_type: "query", encoding_format: "float" });
    assert.sameMembers(warnings(response), ["user", "type", "model.x", "Model", "api_base"]);
    await open.close();
  });
});
