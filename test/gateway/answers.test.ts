import { assert, config } from "chai";
import fc from "fast-check";
import { allSse } from "../sse.ts";
import { chat, type Json, messages, plain, responses } from "./answer-wires.ts";
import { base64, json, name, words } from "./arbitraries.ts";
import { type Gateway, gateway } from "./gateway.ts";
import { VendorTypes } from "./vendor-types.ts";

/** More of them: VENTURI_CASES=2000. */
const numRuns = Number(process.env.VENTURI_CASES ?? 25);
const seed = 33;

interface Wire {
  readonly path: string;
  readonly asks: Json;
  /** What it asks besides for a stream. */
  readonly streaming?: Json;
  readonly streamed: (answer: Json) => string;
  readonly assembled: (events: readonly string[]) => Json;
  /** What is Venturi's to say. */
  readonly own: (answer: Json) => Json;
}

describe("whatever the vendor's own library can receive", function () {
  this.timeout(numRuns * 2_000 + 60_000);
  let open: Gateway;
  const { truncateThreshold } = config;
  before(() => {
    config.truncateThreshold = 0; // the difference is all that helps
  });
  after(() => {
    config.truncateThreshold = truncateThreshold;
  });
  afterEach(() => open.close());

  /** Answers come streamed and in one piece, to clients that stream and clients that do not. */
  const relay = async (wire: Wire, answers: fc.Arbitrary<Json>): Promise<Json[]> => {
    const arrived: Json[] = [];
    const post = (body: Json) => open.post(wire.path, { model: "agent", ...wire.asks, ...body });
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const expected = plain(wire.own(structuredClone(answer)));
        for (const sent of ["streamed", "whole"]) {
          const body = sent === "streamed" ? wire.streamed(structuredClone(answer)) : JSON.stringify(answer);
          const type = sent === "streamed" ? "text/event-stream" : "application/json";
          open.answer((response) => response.writeHead(200, { "content-type": type }).end(body));
          const whole = await post({});
          const text = await whole.text();
          assert.equal(whole.status, 200, text);
          const first = plain(wire.own(JSON.parse(text)));
          assert.deepEqual(first, expected, `${sent}, to a client that does not stream`);
          const events = await allSse(await post({ stream: true, ...wire.streaming }));
          const second = plain(wire.own(wire.assembled(events.map(({ data }) => data).filter((data) => data !== ""))));
          assert.deepEqual(second, expected, `${sent}, to a client that streams`);
          arrived.push(first, second);
        }
      }),
      { numRuns, seed },
    );
    return arrived;
  };

  /** Every field that the type declares has arrived with one answer or another: none was generated for nothing. */
  const hasArrived = (answers: readonly Json[], fields: readonly string[], of: (answer: Json) => Json[]): void => {
    const found = new Set(answers.flatMap(of).flatMap((each) => Object.keys(each ?? {})));
    assert.includeMembers([...found], [...fields]);
  };

  it("as a chat completion reaches a client of the same wire", async () => {
    const types = new VendorTypes("openai", [
      "resources/chat/completions/completions.d.ts",
      "resources/completions.d.ts",
      "resources/shared.d.ts",
    ]);
    const instead = {
      model: fc.constant("m"),
      object: fc.constant("chat.completion"),
      "ChatCompletionAudio.data": base64,
      // The old form of `tool_calls`; a client gets the one it asked for.
      function_call: undefined,
      tool_calls: fc
        .array(types.arbitrary("ChatCompletionMessageFunctionToolCall", { instead: { arguments: words, name } }), {
          minLength: 1,
          maxLength: 2,
        })
        .map((calls) =>
          (calls as Json[]).map((call, at) => ({
            ...call,
            id: `c${at}`,
            function: { name: "look", arguments: `{"a": ${at}}` },
          })),
        ),
      finish_reason: fc.constant("stop"),
    };
    const choice = types.arbitrary("ChatCompletion.Choice", { instead });
    const answer = types
      .arbitrary("ChatCompletion", {
        instead: { ...instead, choices: choice.map((each) => [{ ...(each as Json), index: 0 }]) },
        required: ["usage"],
      })
      .chain((whole) => json.map((invented) => ({ ...(whole as Json), invented_tomorrow: invented })))
      .map((whole) => {
        const [only] = whole.choices;
        only.message.content ??= "Yes.";
        if (only.message.tool_calls) only.finish_reason = "tool_calls";
        return whole;
      });
    open = await gateway({ provider: "openai", settings: ", dialect: openai", answer: "" });
    const tools = [{ type: "function", function: { name: "look" } }];
    const arrived = await relay(
      {
        path: "/openai/v1/chat/completions",
        asks: { messages: [{ role: "user", content: "Hi" }], tools },
        streaming: { stream_options: { include_usage: true } },
        streamed: chat.streamed,
        assembled: chat.assembled,
        own: ({ id: _, model: _m, created: _c, ...answer }: Json) => answer,
      },
      answer,
    );
    hasArrived(arrived, ["service_tier", "system_fingerprint", "moderation", "invented_tomorrow"], (each) => [each]);
    hasArrived(arrived, types.fields("CompletionUsage"), ({ usage }) => [usage]);
    hasArrived(arrived, ["audio", "annotations", "refusal", "tool_calls"], (each) => [each.choices[0].message]);
  });

  it("as a response reaches a client of the same wire", async () => {
    const types = new VendorTypes("openai", ["resources/responses/responses.d.ts", "resources/shared.d.ts"]);
    const instead = {
      model: fc.constant("m"),
      object: fc.constant("response"),
      output_text: undefined,
      error: fc.constant(null),
      incomplete_details: fc.constant(null),
      "Response.status": fc.constant("completed"),
      truncation: fc.constantFrom("auto", "disabled"),
    };
    // Carried out by the client: with their own tools, in the tests of those.
    const clients = /^(custom_tool|local_shell|shell|apply_patch|computer)_call/;
    const any = types.arbitrary("ResponseOutputItem", { instead });
    // Half of them those that most answers consist of.
    const usual = ["ResponseOutputMessage", "ResponseFunctionToolCall", "ResponseReasoningItem"];
    const common = fc.oneof(...usual.map((type) => types.arbitrary(type, { instead })));
    const one = fc.oneof(
      any.filter((item) => !clients.test((item as Json).type)),
      common,
    );
    const items = fc.array(one, { minLength: 1, maxLength: 4 }).map((list) => (list as Json[]).map(item));
    const answer = types
      .arbitrary("Response", {
        instead: { ...instead, output: items },
        required: ["usage", "status", "truncation", "text", "temperature", "top_p"],
      })
      .chain((whole) => json.map((invented) => ({ ...(whole as Json), invented_tomorrow: invented })));
    open = await gateway({ provider: "openai-responses", answer: "" });
    const arrived = await relay(
      {
        path: "/openai/v1/responses",
        asks: { input: "Hi", tools: [{ type: "function", name: "look", parameters: { type: "object" } }] },
        streamed: responses.streamed,
        assembled: responses.assembled,
        own: ownResponse,
      },
      answer,
    );
    const said = types.fields("Response").filter((name) => !ownFields.has(name) && !empty.has(name));
    hasArrived(arrived, [...said, "invented_tomorrow"], (each) => [each]);
    const messages = (each: Json): Json[] => each.output.filter(({ type }: Json) => type === "message");
    hasArrived(arrived, ["phase"], messages);
    hasArrived(arrived, ["logprobs"], (each) => messages(each).flatMap(({ content }) => content));
    hasArrived(arrived, ["namespace"], ({ output }) => output.filter(({ type }: Json) => type === "function_call"));
    hasArrived(arrived, ["summary", "content"], ({ output }) =>
      output.filter(({ type }: Json) => type === "reasoning"),
    );
  });

  it("as a message reaches a client of the same wire", async () => {
    const types = new VendorTypes("@anthropic-ai/sdk", ["resources/messages/messages.d.ts"]);
    const instead = {
      model: fc.constant("m"),
      "ToolUseBlock.id": name,
      "ToolUseBlock.name": fc.constant("look"),
      "ToolUseBlock.input": json.filter((value) => Object.keys(value).length > 0),
      "ServerToolUseBlock.input": json.filter((value) => Object.keys(value).length > 0),
      "TextBlock.text": words.filter((text) => text.trim() !== ""),
    };
    const block = types.arbitrary("ContentBlock", { instead });
    const content = fc.array(block, { minLength: 1, maxLength: 4 }).filter((blocks) => {
      const ids = (blocks as Json[]).flatMap(({ type, id }) => (type === "tool_use" ? [id] : []));
      return new Set(ids).size === ids.length;
    });
    const answer = types
      .arbitrary("Message", {
        instead: {
          ...instead,
          content,
          stop_reason: fc.constantFrom("end_turn", "max_tokens", "stop_sequence", "refusal"),
        },
      })
      .chain((whole) => json.map((invented) => ({ ...(whole as Json), invented_tomorrow: invented })))
      .map((whole) => {
        if (whole.content.some(({ type }: Json) => type === "tool_use") && whole.stop_reason !== "max_tokens") {
          whole.stop_reason = "tool_use";
        }
        return whole;
      });
    open = await gateway({ provider: "anthropic", answer: "" });
    const arrived = await relay(
      {
        path: "/anthropic/v1/messages",
        asks: {
          max_tokens: 9,
          messages: [{ role: "user", content: "Hi" }],
          tools: [{ name: "look", input_schema: { type: "object" } }],
        },
        streamed: messages.streamed,
        assembled: messages.assembled,
        own: ({ id: _, model: _m, ...answer }: Json) => answer,
      },
      answer,
    );
    hasArrived(arrived, types.fields("Usage"), ({ usage }) => [usage]);
    hasArrived(
      arrived,
      [...types.fields("Message").filter((name) => !["id", "model"].includes(name)), "invented_tomorrow"],
      (each) => [each],
    );
    hasArrived(arrived, ["caller"], ({ content }) => content.filter(({ type }: Json) => type === "tool_use"));
  });

  /** No client speaks these wires: what their vendors say beyond the answer is in the journal. */
  const journalled = async (body: string, type: string): Promise<Json> => {
    open.answer((response) => response.writeHead(200, { "content-type": type }).end(body));
    const response = await open.post("/openai/v1/chat/completions", {
      model: "agent",
      messages: [{ role: "user", content: "Hi" }],
    });
    assert.equal(response.status, 200, await response.text());
    const events = await allSse(await fetch(`${open.url}/v1/runs/${response.headers.get("x-venturi-run")}/events`));
    const told = events.map(({ data }) => JSON.parse(data));
    const fields = told.filter(({ kind }) => kind === "response").map(({ data }) => data);
    const finished = told.find((event) => event.type === "generation.finished");
    return { fields: Object.assign({}, ...fields), usage: finished.native?.fields };
  };

  it("as Gemini's answer is in the journal, streamed or whole", async () => {
    open = await gateway({ provider: "gemini", answer: "" });
    const others = fc.record({ own: json, ofCandidate: json, usage: json });
    await fc.assert(
      fc.asyncProperty(others, words, async ({ own, ofCandidate, usage }, text) => {
        const usageMetadata = {
          promptTokenCount: 3,
          candidatesTokenCount: 4,
          serviceTier: "x",
          ...prefixed("u", usage),
        };
        const candidate = {
          content: { parts: [{ text }] },
          finishReason: "STOP",
          avgLogprobs: -1,
          ...prefixed("c", ofCandidate),
        };
        const answer = { ...prefixed("o", own), candidates: [candidate], usageMetadata, promptFeedback: { a: 1 } };
        const whole = JSON.stringify(answer);
        for (const [body, type] of [
          [`data: ${whole}\n\n`, "text/event-stream"],
          [whole, "application/json"],
        ] as const) {
          const { fields, usage: figures } = await journalled(body, type);
          assert.deepEqual(figures, usageMetadata);
          assert.deepEqual(fields, {
            ...prefixed("o", own),
            ...prefixed("candidate.c", ofCandidate),
            "candidate.avgLogprobs": -1,
            promptFeedback: { a: 1 },
          });
        }
      }),
      { numRuns, seed },
    );
  });

  it("but is too large to be kept is left out, named in the journal, and no harm to the answer", async () => {
    open = await gateway({ provider: "openai", answer: "" });
    const deep = Array.from({ length: 80 }).reduce<Json>((inner) => ({ inner }), 1);
    const answer = {
      ...{ id: "c", model: "m", service_tier: "flex", huge: "x".repeat(9 * 1024 * 1024), deep },
      choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    };
    open.answer((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer)),
    );
    const asked = { model: "agent", messages: [{ role: "user", content: "Hi" }] };
    const response = await open.post("/openai/v1/chat/completions", asked);
    const got = (await response.json()) as Json;
    assert.deepInclude(got, { service_tier: "flex" });
    assert.notProperty(got, "huge");
    assert.equal(got.choices[0].message.content, "Yes.");
    const events = await allSse(await fetch(`${open.url}/v1/runs/${response.headers.get("x-venturi-run")}/events`));
    const told = events.map(({ data }) => JSON.parse(data)).find(({ kind }) => kind === "response");
    assert.sameMembers(told.omitted, ["huge", "deep"]);
  });

  it("of several generations is summed in the usage, and the last one's otherwise", async () => {
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      prompt_tokens_details: { audio_tokens: 2 },
    };
    const call = { id: "c1", type: "function", function: { name: "sum", arguments: '{"expression":"1+1"}' } };
    const bodies = [{ content: null, tool_calls: [call] }, { content: "2" }].map((message, at) => ({
      ...{ id: "c", model: "m", service_tier: `tier-${at}`, usage },
      choices: [
        { index: 0, message: { role: "assistant", ...message }, finish_reason: at === 0 ? "tool_calls" : "stop" },
      ],
    }));
    const more = "tools: { sum: { type: calculator } }";
    open = await gateway({ provider: "openai", agent: ", tools: [sum]", more, answer: "" });
    let asked = 0;
    open.answer((response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(bodies[asked++])),
    );
    const response = await open.post("/openai/v1/chat/completions", {
      model: "agent",
      messages: [{ role: "user", content: "Hi" }],
    });
    const got = (await response.json()) as Json;
    assert.equal(asked, 2, JSON.stringify(got));
    assert.equal(got.service_tier, "tier-1");
    assert.deepInclude(got.usage, { prompt_tokens: 6, completion_tokens: 8, total_tokens: 14 });
    assert.equal(got.usage.prompt_tokens_details.audio_tokens, 4);
  });

  it("as Ollama's answer is in the journal", async () => {
    open = await gateway({ provider: "ollama", answer: "" });
    await fc.assert(
      fc.asyncProperty(json, async (others) => {
        const figures = { prompt_eval_count: 3, eval_count: 4, total_duration: 5, ...prefixed("o", others) };
        const last = { model: "m", message: { content: "hi" }, done: true, done_reason: "stop", ...figures };
        const { usage } = await journalled(`${JSON.stringify(last)}\n`, "application/x-ndjson");
        assert.deepEqual(usage, figures);
      }),
      { numRuns, seed },
    );
  });
});

const prefixed = (prefix: string, fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${prefix}_${name}`, value]));

/** One that its vendor has finished, with names of its own. */
function item(given: Json, at: number): Json {
  const { type } = given;
  const id = `${type}_${at}`;
  if (type === "message") {
    const content = given.content.filter((part: Json) => part.text !== "");
    return { ...given, id, status: "completed", content };
  }
  if (type === "reasoning") return { ...given, id, encrypted_content: null };
  if (type !== "function_call") return { ...given, id };
  return { ...given, id, call_id: `c${at}`, name: "look", arguments: '{"a": 1.0}', status: "completed" };
}

/** What this service stores and names itself, and what it was asked; the vendor echoes its operator's settings. */
const ownFields = new Set([
  ...["id", "model", "created_at", "previous_response_id", "conversation", "store", "background", "instructions"],
  ...["metadata", "prompt", "tools", "tool_choice", "user", "safety_identifier", "prompt_cache_key", "output_text"],
]);
const empty = new Set(["error", "incomplete_details"]);

function ownResponse(answer: Json): Json {
  const said = Object.entries(answer).filter(([name]) => !ownFields.has(name));
  const output = answer.output.map(({ id: _, ...rest }: Json) => rest);
  return { ...Object.fromEntries(said), output };
}
