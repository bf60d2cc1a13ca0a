import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { assert } from "chai";
import { begin, end, event, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import { type Answer, type Gateway, gateway } from "./gateway.ts";

type Body = Record<string, unknown>;

const block = (index: number, content: object, ...deltas: object[]): string =>
  event({ type: "content_block_start", index, content_block: content }) +
  deltas.map((delta) => event({ type: "content_block_delta", index, delta })).join("") +
  event({ type: "content_block_stop", index });
const text = (index: number, said: string): string =>
  block(index, { type: "text", text: "" }, { type: "text_delta", text: said });
const answering = (...blocks: string[]): string => begin + blocks.join("") + stop("end_turn") + end;

const thinking = { type: "thinking", thinking: "", signature: "" };
const hidden = { type: "redacted_thinking", data: "c2VhbGVk" };
const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "tide" } };
const found = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    { type: "web_search_result", title: "Tides", url: "https://t.example", encrypted_content: "e", page_age: null },
  ],
};
const citation = {
  type: "web_search_result_location",
  cited_text: "high",
  url: "https://t.example",
  title: "Tides",
  encrypted_index: "i",
};
const researched = answering(
  block(
    0,
    thinking,
    { type: "thinking_delta", thinking: "Let me " },
    { type: "thinking_delta", thinking: "look." },
    { type: "signature_delta", signature: "c2ln" },
  ),
  block(1, hidden),
  block(2, { ...search, input: {} }, { type: "input_json_delta", partial_json: '{"query":"tide"}' }),
  block(3, found),
  block(
    4,
    { type: "text", text: "" },
    { type: "text_delta", text: "It is " },
    { type: "citations_delta", citation },
    { type: "text_delta", text: "high." },
  ),
);

describe("the Messages API", () => {
  let open: Gateway;
  let client: Anthropic;
  const start = async (provider: string, answer: Answer, agent?: string): Promise<void> => {
    open = await gateway({ provider, answer, ...(agent === undefined ? {} : { agent }) });
    client = new Anthropic({ apiKey: "k", baseURL: `${open.url}/anthropic`, maxRetries: 0 });
  };
  afterEach(() => open.close());
  const ask = { model: "agent", max_tokens: 100, messages: [{ role: "user" as const, content: "How is the tide?" }] };

  it("has thinking, the vendor's own tools and citations in a whole answer as in a stream", async () => {
    await start("anthropic", researched);
    const whole = await client.messages.create(ask);
    const streamed = await client.messages.stream(ask).finalMessage();
    for (const { content } of [whole, streamed]) {
      assert.deepEqual(content.slice(0, 4) as unknown[], [
        { type: "thinking", thinking: "Let me look.", signature: "c2ln" },
        hidden,
        search,
        found,
      ]);
      assert.deepEqual(content[4] as unknown, { type: "text", text: "It is high.", citations: [citation] });
    }
    // And all of it goes back as it came.
    await client.messages.create({
      ...ask,
      messages: [...ask.messages, { role: "assistant", content: whole.content }, { role: "user", content: "Sure?" }],
    });
    const sent = open.bodies().at(-1)?.messages as { content: Body[] }[];
    const back = (sent[1]?.content ?? []).map(({ cache_control: _, ...rest }) => rest);
    assert.deepEqual(back, JSON.parse(JSON.stringify(whole.content)));
  });

  it("has the reasoning of a model behind another wire, too", async () => {
    const thought = 'data: {"id":"c","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}\n\n';
    await start("openai", thought + chat.text);
    const [first] = (await client.messages.create(ask)).content;
    assert.deepInclude(first, { type: "thinking", thinking: "hm" });
  });

  it("parses structured output by the client's own schema", async () => {
    await start("anthropic", answering(text(0, '{"height":3}')));
    const schema = {
      type: "object",
      properties: { height: { type: "integer" } },
      required: ["height"],
      additionalProperties: false,
    } as const;
    const message = await client.messages.parse({
      ...ask,
      output_config: { format: jsonSchemaOutputFormat(schema) },
    });
    assert.deepEqual(message.parsed_output as unknown, { height: 3 });
    const [body] = open.bodies();
    assert.deepEqual((body?.output_config as Body | undefined)?.format, { type: "json_schema", schema });
  });

  for (const provider of ["anthropic", "openai"]) {
    it(`runs the client's tools over a thread that is held here: ${provider}`, async () => {
      const call =
        provider === "anthropic"
          ? begin +
            block(
              0,
              thinking,
              { type: "thinking_delta", thinking: "hm" },
              { type: "signature_delta", signature: "c2ln" },
            ) +
            block(
              1,
              { type: "tool_use", id: "toolu_1", name: "tide", input: {} },
              { type: "input_json_delta", partial_json: '{"port":"Brest"}' },
            ) +
            stop("tool_use") +
            end
          : 'data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"tide","arguments":"{\\"port\\":\\"Brest\\"}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';
      const said = provider === "anthropic" ? answering(text(0, "It is high.")) : chat.text;
      let asked = 0;
      await start(provider, (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end(asked++ === 0 ? call : said);
      });
      const ports: unknown[] = [];
      const tide = betaTool({
        name: "tide",
        description: "The tide of a port",
        inputSchema: { type: "object", properties: { port: { type: "string" } }, required: ["port"] } as const,
        run: async (input) => {
          ports.push(input);
          return "high";
        },
      });
      const bodies: Body[] = [];
      const spying = new Anthropic({
        apiKey: "k",
        baseURL: `${open.url}/anthropic`,
        maxRetries: 0,
        fetch: (url, init) => {
          bodies.push(JSON.parse(String(init?.body)) as Body);
          return fetch(url, init);
        },
      });
      const last = await spying.beta.messages.toolRunner({ ...ask, system: "Be brief.", tools: [tide] });
      assert.deepEqual(ports, [{ port: "Brest" }]);
      assert.equal(last.stop_reason, "end_turn");
      const threads = bodies.map(({ thread }) => (thread as Body | undefined)?.type);
      assert.deepEqual(threads, ["create", "continue"]);
      assert.lengthOf(bodies[1]?.messages as unknown[], 1, "only what is new was sent");
      const sent = JSON.stringify(open.bodies()[1]);
      for (const piece of ["Be brief.", "How is the tide?", "toolu_1", "Brest", "high", '"name":"tide"']) {
        assert.include(sent, piece);
      }
      if (provider === "anthropic") assert.include(sent, "c2ln");
    });
  }

  it("says in the vendor's words that a thread is gone or has gone on, so that its clients send everything again", async () => {
    await start("anthropic", answering(text(0, "ok")));
    const first = await client.beta.messages.create({ ...ask, thread: { type: "create" } });
    const next = { ...ask, thread: { type: "continue" as const, previous_message_id: first.id } };
    await client.beta.messages.create(next);
    const codes = [];
    for (const id of [first.id, "msg_nothing"]) {
      const thread = { type: "continue" as const, previous_message_id: id };
      const error = await client.beta.messages.create({ ...ask, thread }).catch((thrown) => thrown);
      codes.push([error.status, error.error?.error?.details?.error_code]);
    }
    assert.deepEqual(codes, [
      [409, "thread_already_continued"],
      [404, "thread_not_found"],
    ]);
  });

  it("counts tokens by the vendor, or estimates them and says so", async () => {
    await start("anthropic", (response, request) => {
      const counted = request.url === "/v1/messages/count_tokens";
      response.writeHead(counted ? 200 : 404, { "content-type": "application/json" });
      response.end(counted ? '{"input_tokens":42}' : "{}");
    });
    const { max_tokens: _, ...prompt } = ask;
    const tools = [{ name: "look", input_schema: { type: "object" as const } }];
    const counted = await client.messages.countTokens({ ...prompt, tools, system: "Be brief." });
    assert.deepEqual(counted as unknown, { input_tokens: 42 });
    assert.sameMembers(Object.keys(open.bodies()[0] ?? {}), ["model", "messages", "system", "tools"]);
    await open.close();
    await start("anthropic", (response) => void response.writeHead(404).end("{}"));
    const estimated = await client.messages.countTokens({ ...prompt, tools }).withResponse();
    assert.deepInclude(estimated.data as unknown as Body, { estimated: true });
    assert.isAbove(estimated.data.input_tokens, 5);
    assert.equal(estimated.response.headers.get("venturi-tokens"), "estimated");
  });

  it("tells of one model", async () => {
    await start("anthropic", researched);
    assert.deepInclude(await client.models.retrieve("agent"), { type: "model", id: "agent" });
    const error = await client.models.retrieve("nobody").catch((thrown) => thrown);
    assert.instanceOf(error, Anthropic.NotFoundError);
  });
});
