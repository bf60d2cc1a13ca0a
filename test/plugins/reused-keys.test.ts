import { once } from "node:events";
import { expect } from "chai";
import WebSocket from "ws";
import type { Service } from "../../src/host/service.ts";
import { serviceOf } from "./channel-time/world.ts";

interface Surface {
  readonly path: string;
  readonly body: (text: string) => object;
}

const user = (content: string) => [{ role: "user", content }];
const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });

const surfaces: Record<string, Surface> = {
  runs: { path: "/v1/runs", body: (input) => ({ agent: "assistant", input }) },
  chat: { path: "/openai/v1/chat/completions", body: (text) => ({ model: "assistant", messages: user(text) }) },
  completions: { path: "/openai/v1/completions", body: (prompt) => ({ model: "assistant", prompt }) },
  responses: { path: "/openai/v1/responses", body: (input) => ({ model: "assistant", input }) },
  conversation: {
    path: "/openai/v1/responses",
    body: (input) => ({ model: "assistant", input, conversation: "conv_of_one_key" }),
  },
  messages: {
    path: "/anthropic/v1/messages",
    body: (text) => ({ model: "assistant", max_tokens: 50, messages: user(text) }),
  },
  thread: {
    path: "/anthropic/v1/messages",
    body: (text) => ({ model: "assistant", max_tokens: 50, messages: user(text), thread: { type: "create" } }),
  },
  "ai-sdk": {
    path: "/ai-sdk/assistant",
    body: (text) => ({ id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text }] }] }),
  },
  "ag-ui": {
    path: "/ag-ui/assistant",
    body: (content) => ({
      threadId: "t",
      runId: "r",
      messages: [{ id: "m", role: "user", content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  },
};

describe("an idempotency key that a client uses twice", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf(`
channels: { http: {}, openai: {}, anthropic: {}, ai-sdk: {}, ag-ui: {}, websocket: {}, a2a: {} }
`);
  });
  after(() => service.close());

  const send = async (path: string, body: object, headers: Record<string, string>) => {
    const response = await fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, run: response.headers.get("x-venturi-run"), text: await response.text() };
  };

  for (const [name, { path, body }] of Object.entries(surfaces)) {
    it(`finds the run of the same request, and is refused for another one: ${name}`, async () => {
      const key = { "idempotency-key": `key-of-${name}` };
      const first = await send(path, body("hello"), key);
      expect(first.status, first.text).to.equal(200);
      const again = await send(path, body("hello"), key);
      expect([again.status, again.run], again.text).to.deep.equal([200, first.run]);
      const other = await send(path, body("goodbye"), key);
      expect(other.status, other.text).to.equal(409);
      expect(other.text).to.include("this Idempotency-Key was used for a different request");
      const long = await send(path, body("hello"), { "idempotency-key": "k".repeat(257) });
      expect(long.status, long.text).to.equal(400);
      expect(long.text).to.include("an Idempotency-Key has 1 to 256 characters");
    });
  }

  it("may be repeated as a stream or whole", async () => {
    const key = { "idempotency-key": "streamed" };
    const body = { model: "assistant", messages: user("hello") };
    const whole = await send("/openai/v1/chat/completions", body, key);
    const stream = { ...body, stream: true, stream_options: { include_usage: true } };
    const streamed = await send("/openai/v1/chat/completions", stream, key);
    expect([streamed.status, streamed.run]).to.deep.equal([200, whole.run]);
  });

  it("is refused on a socket too", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const answers = async (message: object, ends: string) => {
      const received: { type: string; id?: string; run?: string; error?: { code: string } }[] = [];
      const ended = new Promise<void>((resolve) => {
        const take = (data: unknown) => {
          received.push(JSON.parse(String(data)));
          if (received.at(-1)?.type !== ends) return;
          socket.off("message", take);
          resolve();
        };
        socket.on("message", take);
      });
      socket.send(JSON.stringify({ type: "run", agent: "assistant", key: "socket", ...message }));
      await ended;
      return received;
    };
    const [first] = await answers({ input: "hello", id: "1" }, "stream_end");
    const [again] = await answers({ input: "hello", id: "2", sentences: true }, "stream_end");
    expect(again?.run).to.equal(first?.run);
    const [refused] = await answers({ input: "goodbye", id: "3" }, "stream_error");
    expect(refused).to.deep.include({ type: "stream_error", id: "3" });
    expect(refused?.error).to.deep.include({ code: "conflict" });
    socket.close();
    await once(socket, "close");
  });

  const task = async (messageId: string, text: string, more: object = {}) => {
    const message = { messageId, role: "ROLE_USER", parts: [{ text }], ...more };
    const { text: answer } = await send("/a2a/assistant", rpc("SendMessage", { message }), { "a2a-version": "1.0" });
    return JSON.parse(answer) as { result?: { task: { id: string } }; error?: { message: string } };
  };

  it("is the id of an A2A message, of which the whole counts", async () => {
    const long = "m".repeat(300);
    const one = await task(`${long}1`, "hello");
    const two = await task(`${long}2`, "goodbye");
    expect(one.result?.task.id).to.be.a("string");
    expect(two.result?.task.id).to.be.a("string").not.equal(one.result?.task.id);
    expect((await task(`${long}1`, "hello")).result?.task.id).to.equal(one.result?.task.id);
    expect((await task(`${long}1`, "goodbye")).error?.message).to.include("different request");
  });

  it("an A2A context whose id is too long is refused, not joined with another one", async () => {
    const { error } = await task("m1", "hello", { contextId: "c".repeat(257) });
    expect(error?.message).to.equal("message.contextId is a string of at most 256 characters");
  });
});
