import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import { type Answer, type Gateway, gateway } from "./gateway.ts";

const refusing =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

const overflow = {
  error: {
    message: "This model's maximum context length is 8192 tokens.",
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  },
};

describe("a provider that refuses", () => {
  let open: Gateway;
  beforeEach(async () => {
    open = await gateway({
      provider: "openai",
      answer: chat.text,
      more: "models: { m: { chain: [up/m], retry: { max: 0 } } }",
      agent: " }, bare: { model: m",
    });
  });
  afterEach(() => open.close());
  const ask = (path: string, stream: boolean) => {
    const body = { model: "bare", stream, max_tokens: 9, messages: [{ role: "user", content: "Hi" }], input: "Hi" };
    return open.post(path, body);
  };
  const openai = ["/openai/v1/chat/completions", "/openai/v1/responses"];

  for (const stream of [false, true]) {
    const how = stream ? "streamed" : "whole";

    it(`a request as wrong is a 400 in the vendor's words, ${how}`, async () => {
      open.answer(refusing(400, overflow));
      for (const path of openai) {
        const response = await ask(path, stream);
        assert.equal(response.status, 400, path);
        assert.deepEqual(await response.json(), overflow);
      }
      const response = await ask("/anthropic/v1/messages", stream);
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      assert.deepInclude(error, { type: "invalid_request_error", message: overflow.error.message });
    });

    it(`the operator's key or model is a 502 that names provider and model, ${how}`, async () => {
      for (const status of [401, 403, 404]) {
        open.answer(refusing(status, { error: { message: "no", type: "x", code: "y" } }));
        for (const path of [...openai, "/anthropic/v1/messages"]) {
          const response = await ask(path, stream);
          assert.equal(response.status, 502, `${path} ${status}`);
          assert.equal(response.headers.get("x-should-retry"), "false");
          assert.match(await response.text(), /provider \\"up\\" refused to serve up\/m/);
        }
      }
    });

    it(`because it is busy has its status and retry-after, before the first token, ${how}`, async () => {
      for (const [status, expected] of [
        [429, 429],
        [529, 503],
      ] as const) {
        open.answer(refusing(status, { error: { message: "slow down" } }, { "retry-after": "7" }));
        for (const path of [...openai, "/anthropic/v1/messages"]) {
          const response = await ask(path, stream);
          assert.equal(response.status, expected, path);
          assert.equal(response.headers.get("retry-after"), "7");
          assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
          assert.isNotNull(response.headers.get("x-venturi-run"));
        }
      }
    });
  }

  it("in the middle of its answer is reported in the stream, whose status has been sent", async () => {
    open.answer(`${chat.event('{"content":"Hel"}')}data: {"error":{"message":"overloaded"}}\n\n`);
    const response = await ask(openai[0] ?? "", true);
    assert.equal(response.status, 200);
    assert.include(await response.text(), '"error":{"message"');
  });
});
