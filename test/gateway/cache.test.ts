import Anthropic from "@anthropic-ai/sdk";
import { assert } from "chai";
import OpenAI from "openai";
import { begin, end, event, stop } from "../plugins/anthropic/events.ts";
import { type Answer, type Gateway, gateway } from "./gateway.ts";

type Body = Record<string, unknown>;
type Turn = { role: string; content: Body[] };

const rounds = 10;
const agent =
  ', instructions: "You count.", tools: [calculator, clock], limits: { maxToolRounds: 20, maxToolCalls: 100 }';
const tools = "tools: { calculator: { type: calculator }, clock: { type: clock } }";

/** Nine calls with ever new arguments, one a round, then a text. */
function counting(call: (round: number) => string, text: string): Answer {
  let round = 0;
  return (response) => {
    round += 1;
    response.writeHead(200, { "content-type": "text/event-stream" }).end(round < rounds ? call(round) : text);
  };
}

const sse = (...frames: unknown[]): string => frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
const args = (round: number): string => JSON.stringify({ expression: `${round} + 1` });

const anthropicCall = (round: number): string =>
  begin +
  event({
    type: "content_block_start",
    index: 0,
    content_block: { type: "thinking", thinking: `thought ${round}`, signature: `sig${round}` },
  }) +
  event({ type: "content_block_stop", index: 0 }) +
  event({
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: `toolu_${round}`, name: "calculator", input: {} },
  }) +
  event({
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: args(round) },
  }) +
  event({ type: "content_block_stop", index: 1 }) +
  stop("tool_use") +
  end;

const chatCall = (round: number): string =>
  `${sse(
    {
      id: "c",
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              {
                index: 0,
                id: `call_${round}`,
                type: "function",
                function: { name: "calculator", arguments: args(round) },
              },
            ],
          },
        },
      ],
    },
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  )}data: [DONE]\n\n`;
const chatText = sse({ id: "c", choices: [{ index: 0, delta: { content: "ten" }, finish_reason: "stop" }] });

const wires: Record<string, { answer: Answer; conversation: string; fixed: readonly string[] }> = {
  anthropic: {
    answer: counting(anthropicCall, begin + stop("end_turn") + end),
    conversation: "messages",
    fixed: ["system", "tools", "model"],
  },
  openai: { answer: counting(chatCall, chatText), conversation: "messages", fixed: ["tools", "model"] },
};

describe("prompt caching", () => {
  let open: Gateway;
  afterEach(() => open.close());

  for (const [provider, { answer, conversation, fixed }] of Object.entries(wires)) {
    it(`finds the prefix of each of ten rounds again in the next, byte for byte: ${provider}`, async () => {
      open = await gateway({ provider, answer, agent, more: tools });
      const response = await open.post("/v1/runs", { agent: "agent", input: "count to ten", session: "s" });
      assert.equal(response.status, 200, await response.text());
      const bodies = open.bodies();
      assert.lengthOf(bodies, rounds);
      for (const [index, body] of bodies.entries()) {
        const next = bodies[index + 1];
        if (next === undefined) continue;
        for (const key of fixed) assert.equal(JSON.stringify(body[key]), JSON.stringify(next[key]), key);
        // Anthropic's breakpoints move on; they are not part of what is compared.
        const [now, then] = [body, next].map((each) => unmarked(JSON.stringify(each[conversation])));
        assert.isTrue(then?.startsWith(now?.slice(0, -1) ?? ""), `round ${index + 1}`);
      }
    });
  }

  it("sets Anthropic's breakpoints on the last tool, the system and the growing conversation", async () => {
    open = await gateway({
      provider: "anthropic",
      answer: counting(anthropicCall, begin + stop("end_turn") + end),
      agent,
      more: tools,
    });
    await (await open.post("/v1/runs", { agent: "agent", input: "count to ten" })).text();
    const marks = { type: "ephemeral" };
    const last = open.bodies().at(-1) ?? {};
    assert.deepEqual(
      (last.tools as Body[]).map(({ cache_control }) => cache_control),
      [undefined, marks],
    );
    assert.deepEqual(
      (last.system as Body[]).map(({ cache_control }) => cache_control),
      [marks],
    );
    const marked = (last.messages as Turn[]).flatMap(({ role, content }, at) =>
      content.some(({ cache_control }) => cache_control) ? [`${role} ${at}`] : [],
    );
    assert.deepEqual(marked, ["user 16", "user 18"]);
    assert.equal(JSON.stringify(last).match(/cache_control/g)?.length, 4, "the most that the API takes");
  });

  it("is off, or for an hour, as the model says", async () => {
    const models = "models: { still: { chain: [up/m], cache: off }, long: { chain: [up/m], cache: 1h } }";
    const agents = "agents: { agent: { model: up/m }, still: { model: still }, long: { model: long } }";
    open = await gateway({ provider: "anthropic", answer: begin + stop("end_turn") + end, more: models, agents });
    for (const name of ["still", "long"]) await (await open.post("/v1/runs", { agent: name, input: "hi" })).text();
    const [still, long] = open.bodies().map((body) => JSON.stringify(body));
    assert.notInclude(still, "cache_control");
    assert.include(long, '"cache_control":{"type":"ephemeral","ttl":"1h"}');
  });

  it("leaves a client's own breakpoints alone", async () => {
    open = await gateway({ provider: "anthropic", answer: begin + stop("end_turn") + end });
    const content = [
      { type: "text", text: "long", cache_control: { type: "ephemeral" } },
      { type: "text", text: "short" },
    ];
    const request = { model: "agent", max_tokens: 9, system: "s", messages: [{ role: "user", content }] };
    await (await open.post("/anthropic/v1/messages", request)).text();
    const { messages, system } = open.bodies()[0] ?? {};
    assert.deepEqual(messages, request.messages);
    assert.equal(system, "s");
  });

  it("gives OpenAI one key per session, and one per key of a client", async () => {
    open = await gateway({ provider: "openai", answer: chatText, settings: ", dialect: openai" });
    for (const session of ["a", "a", "b"])
      await (await open.post("/v1/runs", { agent: "agent", input: "hi", session })).text();
    const chat = { model: "agent", messages: [{ role: "user", content: "hi" }] };
    for (const key of ["mine", "mine", "other"])
      await (await open.post("/openai/v1/chat/completions", { ...chat, prompt_cache_key: key })).text();
    const keys = open.bodies().map((body) => body.prompt_cache_key);
    assert.match(String(keys[0]), /^[\w-]{32}$/);
    assert.equal(keys[0], keys[1]);
    assert.notEqual(keys[0], keys[2]);
    assert.match(String(keys[3]), /^[\w-]{32}$/);
    assert.equal(keys[3], keys[4]);
    assert.lengthOf(new Set(keys), 4);
  });

  it("tells cached reads and writes in the run's usage and in the metrics", async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 700, cache_creation_input_tokens: 30, output_tokens: 2 };
    const answer = begin + event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }) + end;
    open = await gateway({ provider: "anthropic", answer, measured: true });
    const response = await open.post("/v1/runs", { agent: "agent", input: "hi" });
    const told = (await response.json()) as { usage: Body };
    assert.include(told.usage, { inputTokens: 740, cacheReadTokens: 700, cacheWriteTokens: 30, outputTokens: 2 });
    const metrics = await (await fetch(`${open.url}/metrics`)).text();
    assert.match(metrics, /gen_ai_client_token_usage\S*_sum\{[^}]*gen_ai_token_type="cache_read"[^}]*\} 700/);
    assert.match(metrics, /gen_ai_client_token_usage\S*_sum\{[^}]*gen_ai_token_type="cache_write"[^}]*\} 30/);
  });

  it("is reported to each vendor's own library as its vendor counts it", async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 700, cache_creation_input_tokens: 30, output_tokens: 2 };
    const answer = begin + event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }) + end;
    open = await gateway({ provider: "anthropic", answer });
    const anthropic = new Anthropic({ baseURL: `${open.url}/anthropic`, apiKey: "none" });
    const messages = [{ role: "user" as const, content: "hi" }];
    const asked = { model: "agent", max_tokens: 9, messages, cache_control: { type: "ephemeral" as const } };
    assert.include((await anthropic.messages.create(asked)).usage, usage);
    assert.include((await anthropic.messages.stream(asked).finalMessage()).usage, usage);
    assert.deepEqual(open.bodies()[0]?.cache_control, { type: "ephemeral" });
    assert.notInclude(JSON.stringify(open.bodies()[0]?.messages), "cache_control", "the client's own one is enough");
    const openai = new OpenAI({ baseURL: `${open.url}/openai/v1`, apiKey: "none" });
    const chat = await openai.chat.completions.create({ model: "agent", messages });
    assert.include(chat.usage, { prompt_tokens: 740, completion_tokens: 2, total_tokens: 742 });
    assert.equal(chat.usage?.prompt_tokens_details?.cached_tokens, 700);
    const response = await openai.responses.create({ model: "agent", input: "hi" });
    assert.include(response.usage, { input_tokens: 740, output_tokens: 2, total_tokens: 742 });
    assert.equal(response.usage?.input_tokens_details.cached_tokens, 700);
  });
});

const unmarked = (json: string): string => json.replace(/,"cache_control":\{[^}]*\}/g, "");
