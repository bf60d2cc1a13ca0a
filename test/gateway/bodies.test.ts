import { request as httpRequest } from "node:http";
import { assert } from "chai";
import OpenAI from "openai";
import * as chat from "../plugins/openai/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

const path = "/openai/v1/chat/completions";
const image = (bytes: number, fill: number) => `data:image/png;base64,${Buffer.alloc(bytes, fill).toString("base64")}`;
const ask = (url: string) => ({
  model: "agent",
  messages: [{ role: "user" as const, content: [{ type: "image_url" as const, image_url: { url } }] }],
});
const mebibyte = 1024 * 1024;

describe("large bodies", function () {
  this.timeout(180_000);
  let open: Gateway;
  afterEach(() => open.close());

  it("count together, at their announced size, until they are answered; what does not fit gets a Retry-After", async () => {
    const go = Promise.withResolvers<void>();
    open = await gateway({
      provider: "openai",
      more: "limits: { memory: 36MiB, body: 2MiB }",
      answer: async (response) => {
        await go.promise;
        response.writeHead(200, { "content-type": "text/event-stream" }).end(chat.text);
      },
    });
    let refused = 0;
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const response = await open.post(path, ask(image(mebibyte, index)));
        // Four of 1.4 MiB, each counted three times, fit into half of 36 MiB; they are answered once the others have been.
        if (response.status === 503 && ++refused === 8) go.resolve();
        return response;
      }),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(4).fill(200), ...Array(8).fill(503)]);
    for (const response of answers.filter(({ status }) => status === 503)) {
      assert.equal(response.headers.get("retry-after"), "1");
      assert.nestedProperty(await response.json(), "error.message");
    }
    const later = await open.post(path, ask(image(mebibyte, 99)));
    assert.equal(later.status, 200, "all room is free again");
  });

  it("are all served in the end to a client that honours Retry-After", async () => {
    open = await gateway({ provider: "openai", answer: chat.text, more: "limits: { memory: 24MiB, body: 2MiB }" });
    const client = new OpenAI({ baseURL: `${open.url}/openai/v1`, apiKey: "none", maxRetries: 8 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => client.chat.completions.create(ask(image(mebibyte, index)))),
    );
    for (const { choices } of answers) assert.isString(choices[0]?.message.content);
    const arrived = new Set(open.bodies().map((body) => JSON.stringify(body.messages)));
    assert.equal(arrived.size, 8, "each image arrived as it was");
  });

  it("that are cut off give their room back", async () => {
    open = await gateway({ provider: "openai", answer: chat.text, more: "limits: { memory: 18MiB, body: 2MiB }" });
    const { port } = new URL(open.url);
    const headers = { "content-type": "application/json", "content-length": String(2 * mebibyte) };
    const idle = Array.from({ length: 4 }, () => {
      const request = httpRequest({ port, path, method: "POST", headers });
      request.on("error", () => {}); // it is given up below
      request.write(`{"model":"${"x".repeat(mebibyte)}`);
      return request;
    });
    const closed = idle.map((request) => new Promise((resolve) => request.once("close", resolve)));
    for (const request of idle) request.destroy();
    await Promise.all(closed);
    let status = 503;
    for (let tries = 0; status === 503 && tries < 100; tries++)
      ({ status } = await open.post(path, ask(image(mebibyte, 2))));
    assert.equal(status, 200);
  });

  it("beyond the limit are a 413, announced or not, also to a client that sends all before it reads", async () => {
    open = await gateway({ provider: "openai", answer: chat.text, more: "limits: { body: 1MiB }" });
    const body = JSON.stringify(ask(image(mebibyte, 1)));
    for (const chunked of [false, true]) {
      const { status, text } = await postAll(open.url, body, chunked);
      assert.equal(status, 413, text);
      assert.match(text, /limits\.body/);
    }
  });

  it("of every surface arrive as they were, with text of any script around them", async () => {
    open = await gateway({ provider: "openai", answer: chat.text });
    const data = Buffer.alloc(3 * mebibyte, 7).toString("base64");
    const text = `Schöne Grüße, 世界, 🐻 "quoted" \\ and\nlines ${"é".repeat(200_000)}`;
    const url = `data:image/png;base64,${data}`;
    const bodies: Record<string, object> = {
      [path]: {
        model: "agent",
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text },
              { type: "image_url", image_url: { url } },
            ],
          },
        ],
      },
      "/openai/v1/responses": {
        model: "agent",
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text },
              { type: "input_image", image_url: url },
            ],
          },
        ],
      },
      "/anthropic/v1/messages": {
        model: "agent",
        max_tokens: 9,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text },
              { type: "image", source: { type: "base64", media_type: "image/png", data } },
            ],
          },
        ],
      },
    };
    for (const [surface, body] of Object.entries(bodies)) {
      const response = await open.post(surface, body);
      assert.equal(response.status, 200, await response.text());
      const sent = open.bodies().at(-1)?.messages as { content: Record<string, unknown>[] }[];
      assert.equal(sent[0]?.content[0]?.text, text);
      assert.deepEqual(sent[0]?.content[1]?.image_url, { url });
    }
  });
});

function postAll(url: string, body: string, chunked: boolean): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const length = chunked ? { "transfer-encoding": "chunked" } : { "content-length": String(Buffer.byteLength(body)) };
    const request = httpRequest(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...length },
    });
    request.on("error", reject);
    request.on("response", async (response) => {
      let text = "";
      for await (const piece of response) text += piece;
      resolve({ status: response.statusCode, text });
    });
    request.end(body);
  });
}
