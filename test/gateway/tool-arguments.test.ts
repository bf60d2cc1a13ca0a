import type { ServerResponse } from "node:http";
import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import { readSse } from "../sse.ts";
import { type Gateway, gateway } from "./gateway.ts";

const look = { name: "look", parameters: { type: "object" } };
const schema = { type: "object", properties: {} };
const user = [{ role: "user", content: "Hi" }];

/** What of a call each wire's event carries: its beginning, or a piece of its arguments. */
const surfaces = [
  {
    path: "/openai/v1/chat/completions",
    body: { messages: user, tools: [{ type: "function", function: look }] },
    piece: (data: Json) => data.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments,
  },
  {
    path: "/openai/v1/chat/completions",
    body: { messages: user, functions: [look] },
    piece: (data: Json) => data.choices?.[0]?.delta?.function_call?.arguments,
  },
  {
    path: "/openai/v1/responses",
    body: { input: "Hi", tools: [{ type: "function", ...look }] },
    piece: (data: Json) => (data.type === "response.function_call_arguments.delta" ? data.delta : undefined),
  },
  {
    path: "/anthropic/v1/messages",
    body: { messages: user, max_tokens: 9, tools: [{ name: "look", input_schema: schema }] },
    piece: (data: Json) => data.delta?.partial_json,
  },
];
// biome-ignore lint/suspicious/noExplicitAny: four vendors' events, read by path
type Json = any;

describe("arguments for a client's tool", () => {
  let open: Gateway;
  let upstream: ServerResponse | undefined;
  before(async () => {
    open = await gateway({
      provider: "openai",
      answer: (response) => {
        upstream = response;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chat.fragment('"index":0,"id":"c1","function":{"name":"look","arguments":"{\\"a\\":"}'));
      },
    });
  });
  after(() => open.close());

  for (const { path, body, piece } of surfaces) {
    const how = `${path}${"functions" in body ? ", functions" : ""}`;

    it(`arrive as they come: ${how}`, async () => {
      const response = await open.post(path, { model: "agent", stream: true, ...body });
      let told = "";
      for await (const { data } of readSse(response.body)) {
        if (!data.startsWith("{")) continue;
        const before = told;
        told += piece(JSON.parse(data)) ?? "";
        // The vendor says the rest only now that the beginning is here.
        if (before === "" && told !== "") {
          assert.equal(told, '{"a":');
          upstream?.end(chat.fragment('"index":0,"function":{"arguments":"1}"}') + chat.calls + chat.done);
        }
      }
      assert.equal(told, '{"a":1}');
    });
  }

  it("that were cut by the token limit end the answer with length, as the vendor's does", async () => {
    const cut = chat.fragment('"index":0,"id":"c1","function":{"name":"look","arguments":"{\\"a\\":"}');
    open.answer(cut + chat.event("{}", '"length"') + chat.done);
    const response = await open.post("/openai/v1/chat/completions", {
      model: "agent",
      messages: user,
      tools: [{ type: "function", function: look }],
    });
    const { choices } = (await response.json()) as Json;
    assert.equal(choices[0].finish_reason, "length");
    assert.equal(choices[0].message.tool_calls[0].function.arguments, '{"a":');
    assert.lengthOf(open.bodies(), surfaces.length + 1);
  });
});

describe("calls whose pieces the vendor sends in turns", () => {
  it("are whole one after the other on every surface, each with its own arguments", async () => {
    const piece = (index: number, rest: string) => chat.fragment(`"index":${index},${rest}`);
    const begin = (index: number) =>
      piece(index, `"id":"c${index}","type":"function","function":{"name":"look","arguments":""}`);
    const more = (index: number, text: string) => piece(index, `"function":{"arguments":${JSON.stringify(text)}}`);
    const said =
      [0, 1, 2].map(begin).join("") +
      ['{"a":', "1", "2}"].flatMap((text) => [2, 0, 1].map((index) => more(index, text))).join("");
    const open = await gateway({ provider: "openai", answer: said + chat.calls + chat.done });
    for (const { path, body, piece: of } of surfaces.filter((each) => !("functions" in each.body))) {
      const response = await open.post(path, { model: "agent", stream: true, ...body });
      const order: unknown[] = [];
      const texts = new Map<unknown, string>();
      for await (const { data } of readSse(response.body)) {
        if (!data.startsWith("{")) continue;
        const json = JSON.parse(data) as Json;
        const text = of(json);
        if (text === undefined || text === "") continue;
        const at = json.choices?.[0]?.delta?.tool_calls?.[0]?.index ?? json.index ?? json.output_index;
        if (order.at(-1) !== at) order.push(at);
        texts.set(at, (texts.get(at) ?? "") + text);
      }
      assert.deepEqual([...texts.values()], Array(3).fill('{"a":12}'), path);
      assert.deepEqual(order, [0, 1, 2], path);
    }
    await open.close();
  });
});
