import { expect } from "chai";
import anthropic from "../../plugins/anthropic/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import openai from "../../plugins/openai/index.ts";
import openaiResponses from "../../plugins/openai-responses/index.ts";
import { failure, provider, streamed, vendor } from "./vendor.ts";

const sse = (body: unknown, event = "") => `${event && `event: ${event}\n`}data: ${JSON.stringify(body)}\n\n`;
const wires = [
  { plugin: openai, base: "/v1", type: "text/event-stream", frame: (body: unknown) => sse(body) },
  {
    plugin: openaiResponses,
    base: "/v1",
    type: "text/event-stream",
    frame: (body: object) => sse({ type: "error", ...body }, "error"),
  },
  {
    plugin: anthropic,
    base: "",
    type: "text/event-stream",
    frame: (body: object) => sse({ type: "error", ...body }, "error"),
  },
  { plugin: gemini, base: "/v1beta", type: "text/event-stream", frame: (body: unknown) => sse(body) },
  {
    plugin: ollama,
    base: "",
    type: "application/x-ndjson",
    frame: (body: unknown) => `${JSON.stringify(body)}\n`,
  },
] as const;

/** How vendors and gateways say it once a stream has begun with 200. */
const bodies = [
  { error: { code: 529, message: "try later" } },
  { error: { code: "529", message: "try later" } },
  { error: { status: 529, message: "try later" } },
  { error: { type: "overloaded_error", message: "Overloaded" } },
  { error: { message: "try later" }, status_code: 529 },
  { error: { message: "upstream answered 529" } },
];

describe("a 529 in a stream that began with 200", () => {
  for (const { plugin, base, type, frame } of wires) {
    it(`is unavailable on the wire of ${plugin.name}`, async () => {
      let body: (typeof bodies)[number] | undefined;
      const server = await vendor((_, response) => {
        response.writeHead(200, { "content-type": type });
        response.end(frame(body as never));
      });
      const port = await provider(plugin as typeof openai, { baseUrl: server.url + base, apiKey: "x" });
      const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "hi" }] }];
      for (body of bodies) {
        const error = await failure(async () => {
          const transcript = await streamed(port, { model: "m", messages, tools: [], options: {} });
          if (transcript.error) throw transcript.error;
        });
        expect(error, JSON.stringify(body)).to.include({ code: "unavailable" });
        expect(error.retryable).to.equal(true);
      }
      await port.close?.();
      await server.close();
    });
  }
});
