import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import { type Answer, type Gateway, gateway } from "./gateway.ts";

const ask: Readonly<Record<string, (open: Gateway) => Promise<Response>>> = {
  chat: (open) => open.post("/openai/v1/chat/completions", { model: "bare", stream: true, messages }),
  completions: (open) => open.post("/openai/v1/completions", { model: "bare", stream: true, prompt: "Hi" }),
  responses: (open) => open.post("/openai/v1/responses", { model: "bare", stream: true, input: "Hi" }),
  messages: (open) => open.post("/anthropic/v1/messages", { model: "bare", stream: true, max_tokens: 9, messages }),
};
const messages = [{ role: "user", content: "Hi" }];

const opened = (limits: string) =>
  gateway({
    provider: "openai",
    answer: chat.text,
    more: `models: { m: { chain: [up/m], retry: { max: 0 } } }\nlimits: { ${limits} }`,
    agent: " }, bare: { model: m",
  });

/** Refuses with 429 when told to. */
function refusing(): { answer: Answer; now: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answer: Answer = async (response) => {
    await promise;
    const headers = { "content-type": "application/json", "retry-after": "7" };
    response.writeHead(429, headers).end('{"error":{"message":"slow down"}}');
  };
  return { answer, now: resolve };
}

const framesOf = (text: string): Record<string, unknown>[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? "") as Record<string, unknown>);

describe("a provider that refuses late", () => {
  it("has its own status on every surface although heartbeats were due", async () => {
    const open = await opened("keepAlive: 5ms, firstOutput: 30s");
    for (const [name, send] of Object.entries(ask)) {
      const { answer, now } = refusing();
      open.answer(answer);
      const sent = send(open);
      setTimeout(now, 60);
      const response = await sent;
      assert.equal(response.status, 429, name);
      assert.equal(response.headers.get("retry-after"), "7");
      await response.text();
    }
    await open.close();
  });

  it("after limits.firstOutput is an error in the stream that says when to try again", async () => {
    const open = await opened("firstOutput: 5ms");
    for (const [name, send] of Object.entries(ask)) {
      const { answer, now } = refusing();
      open.answer(answer);
      const response = await send(open);
      assert.equal(response.status, 200, name);
      now();
      const last = framesOf(await response.text()).at(-1) ?? {};
      const { error } = (last.response ?? last) as { error?: Record<string, unknown> };
      assert.equal(error?.retry_after, 7, `${name}: ${JSON.stringify(last)}`);
    }
    await open.close();
  });
});

describe("a Responses stream", () => {
  const codes = /^(server_error|rate_limit_exceeded|invalid_prompt)$/;
  interface Item {
    readonly type: string;
    readonly status?: string;
  }
  let open: Gateway;
  before(async () => {
    open = await opened("");
  });
  after(() => open.close());
  const call = (name: string, text: string) =>
    chat.event(
      JSON.stringify({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name, arguments: text } }] }),
    );
  const tools = ["f", "g"].map((name) => ({ type: "function", name, parameters: { type: "object" } }));
  const custom = { type: "custom", name: "free" };
  const read = async (answer: Answer) => {
    open.answer(answer);
    const response = await open.post("/openai/v1/responses", {
      model: "bare",
      stream: true,
      input: "Hi",
      tools: [...tools, custom],
    });
    const frames = framesOf(await response.text());
    const done = frames.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item as Item);
    const last = frames.at(-1) as { type: string; response: { output: Item[]; error: { code: string } | null } };
    return { done, last };
  };
  const cut =
    (text: string): Answer =>
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(text, () => setTimeout(() => response.destroy(), 5));
    };

  for (const [name, said] of Object.entries({
    "in its text": chat.event('{"content":"Hel"}'),
    "in its reasoning": chat.event('{"reasoning_content":"Hm"}'),
    "in a call": chat.event('{"content":"So"}') + call("f", '{"a":'),
    "in a call of a free-text tool": chat.event('{"content":"So"}') + call("free", '{"input":"a'),
    "between an error's words": `${chat.event('{"content":"Hel"}')}data: {"error":{"message":"x","code":"ECONNRESET"}}\n\n`,
  })) {
    it(`that is cut ${name} completes no item that was open, and fails with a code of the API`, async () => {
      const { done, last } = await read(cut(said));
      assert.equal(last.type, "response.failed");
      assert.match(last.response.error?.code ?? "", codes);
      assert.isNotEmpty(last.response.output);
      assert.deepEqual(last.response.output, done);
      assert.equal(done.at(-1)?.status, name.includes("call") && done.length === 1 ? "completed" : "incomplete");
    });
  }

  it("that stops at a limit ends its item as incomplete, and with a call its arguments", async () => {
    const length = chat.event("{}", '"length"');
    for (const said of [chat.event('{"content":"Hel"}'), call("f", '{"a":')]) {
      const { done, last } = await read(`${said}${length}data: [DONE]\n\n`);
      assert.equal(last.type, "response.incomplete");
      assert.deepEqual(
        done.map(({ status }) => status),
        ["incomplete"],
      );
    }
  });
});
