import { assert } from "chai";
import { type Gateway, gateway } from "./gateway.ts";

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const end = 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const message = { messages: [{ role: "user", content: "count" }] };

/** Each channel's stream, asked as its clients do. */
const streams: Record<string, (open: Gateway) => Promise<Response>> = {
  http: (open) => open.post("/v1/runs", { agent: "agent", input: "count" }, { accept: "text/event-stream" }),
  chat: (open) => open.post("/openai/v1/chat/completions", { model: "agent", stream: true, ...message }),
  responses: (open) => open.post("/openai/v1/responses", { model: "agent", stream: true, input: "count" }),
  messages: (open) => open.post("/anthropic/v1/messages", { model: "agent", max_tokens: 9, stream: true, ...message }),
  "ai-sdk": (open) =>
    open.post("/ai-sdk/agent", { id: "c", messages: [{ role: "user", parts: [{ type: "text", text: "count" }] }] }),
};

describe("a token reaches the client before the vendor has said the next one", () => {
  for (const [name, ask] of Object.entries(streams)) {
    it(`over ${name}`, async () => {
      const tokens = 50;
      const seen = Array.from({ length: tokens }, () => Promise.withResolvers<void>());
      // The vendor says the next token only when the client has read this one: what waits for more would wait for ever.
      const open = await gateway({
        provider: "openai",
        channels: ", ai-sdk: {}",
        answer: async (response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          for (const [token, { promise }] of seen.entries()) {
            response.write(chunk(`<${token}>`));
            await promise;
          }
          response.end(end);
        },
      });
      try {
        const response = await ask(open);
        assert.equal(response.status, 200);
        let text = "";
        const decoder = new TextDecoder();
        for await (const bytes of response.body ?? []) {
          text += decoder.decode(bytes as Uint8Array, { stream: true });
          for (const [, token] of text.matchAll(/<(\d+)>/g)) seen[Number(token)]?.resolve();
        }
        assert.include(text, `<${tokens - 1}>`);
      } finally {
        for (const { resolve } of seen) resolve();
        await open.close();
      }
    });
  }
});
