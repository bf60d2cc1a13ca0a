import { expect } from "chai";
import anthropic from "../../plugins/anthropic/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import openai from "../../plugins/openai/index.ts";
import openaiResponses from "../../plugins/openai-responses/index.ts";
import { provider, streamed, vendor } from "./vendor.ts";

const sse = (...frames: readonly string[]) => frames.map((frame) => `data: ${frame}\n\n`).join("");
const args = '{\\"city\\":\\"P@ris\\"}';
const chatCall = `{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":"${args}"}}`;
const item = `{"type":"function_call","id":"fc","call_id":"c","name":"look","arguments":"${args}"}`;
const candidate = (part: string) => `{"candidates":[{"content":{"parts":[${part}]},"finishReason":"STOP"}]}`;
const look = '{"functionCall":{"name":"look","args":{"city":"P@ris"}}}';

/** The place of the odd bytes is `@`: in a call's arguments, and in a text. */
const answers = [
  {
    name: "Chat Completions",
    plugin: openai,
    base: "/v1",
    type: "text/event-stream",
    call: sse(`{"choices":[{"index":0,"delta":{"tool_calls":[${chatCall}]},"finish_reason":"tool_calls"}]}`, "[DONE]"),
    text: sse('{"choices":[{"index":0,"delta":{"content":"P@ris"},"finish_reason":"stop"}]}', "[DONE]"),
  },
  {
    name: "Chat Completions, not streamed",
    plugin: openai,
    base: "/v1",
    type: "application/json",
    call: `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[${chatCall}]},"finish_reason":"tool_calls"}]}`,
    text: '{"choices":[{"index":0,"message":{"role":"assistant","content":"P@ris"},"finish_reason":"stop"}]}',
  },
  {
    name: "Responses",
    plugin: openaiResponses,
    base: "/v1",
    type: "text/event-stream",
    call: sse(
      '{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"look","arguments":""}}',
      `{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc","delta":"${args}"}`,
      `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
      `{"type":"response.completed","response":{"id":"1","status":"completed","output":[${item}]}}`,
    ),
    text: sse(
      '{"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"m","delta":"P@ris"}',
      '{"type":"response.completed","response":{"id":"1","status":"completed","output":[]}}',
    ),
  },
  {
    name: "Messages",
    plugin: anthropic,
    base: "",
    type: "text/event-stream",
    call: sse(
      '{"type":"message_start","message":{"id":"1","model":"m","content":[]}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"look","input":{}}}',
      `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"${args}"}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
      '{"type":"message_stop"}',
    ),
    text: sse(
      '{"type":"message_start","message":{"id":"1","model":"m","content":[]}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"P@ris"}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
      '{"type":"message_stop"}',
    ),
  },
  {
    name: "Gemini",
    plugin: gemini,
    base: "/v1beta",
    type: "text/event-stream",
    call: sse(candidate(look)),
    text: sse(candidate('{"text":"P@ris"}')),
  },
  {
    name: "Gemini, as an array",
    plugin: gemini,
    base: "/v1beta",
    type: "text/event-stream",
    call: `[${candidate(look)}]`,
    text: `[${candidate('{"text":"P@ris"}')}]`,
  },
  {
    name: "Ollama",
    plugin: ollama,
    base: "",
    type: "application/x-ndjson",
    call: '{"model":"m","message":{"content":"","tool_calls":[{"function":{"name":"look","arguments":{"city":"P@ris"}}}]},"done":true,"done_reason":"stop"}\n',
    text: '{"model":"m","message":{"content":"P@ris"},"done":true,"done_reason":"stop"}\n',
  },
] as const;

/** A byte alone, a cut character, an encoded surrogate, an overlong form. */
const odd = [[0xff], [0xe4], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]];
/** U+FFFD that was sent, and other characters. */
const fine = ["\uFFFD", "ä", "\u{1F600}\uFFFD"];
const split = 3;

describe("bytes that are not UTF-8", () => {
  for (const { name, plugin, base, type, call, text } of answers) {
    it(`never become arguments of a call, and in a text a character each: ${name}`, async () => {
      let reads: Buffer[] = [];
      const server = await vendor(async (_, response) => {
        response.writeHead(200, { "content-type": type });
        for (const read of reads) await new Promise((resolve) => response.write(read, resolve));
        response.end();
      });
      const port = await provider(plugin as typeof openai, { baseUrl: server.url + base, apiKey: "x" });
      const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "hi" }] }];
      const ask = async (answer: string, bytes: Uint8Array, cut: boolean) => {
        const at = Buffer.from(answer).indexOf("@");
        const places = answer.split("@").map((piece) => Buffer.from(piece));
        const body = Buffer.concat(places.flatMap((piece, index) => (index === 0 ? [piece] : [bytes, piece])));
        reads = cut ? [body.subarray(0, at - split), body.subarray(at - split, at + 1), body.subarray(at + 1)] : [body];
        return await streamed(port, { model: "m", messages, tools: [], options: {} });
      };
      for (const cut of [false, true]) {
        for (const bytes of odd) {
          const made = await ask(call, Uint8Array.from(bytes), cut).catch((error) => ({ error, calls: [] }));
          expect(made.error, String(bytes)).to.include({ code: "stream_error" });
          expect(made.calls.map((one) => JSON.stringify(one.result())).join("")).to.not.contain("\uFFFD");
          const said = await ask(text, Uint8Array.from(bytes), cut);
          expect(said.error).to.equal(undefined);
          expect(said.text).to.match(/^P\uFFFD+ris$/);
        }
        for (const sent of fine) {
          const made = await ask(call, Buffer.from(sent), cut);
          expect(made.error).to.equal(undefined);
          expect(made.calls[0]?.result()).to.deep.include({ ok: true, arguments: { city: `P${sent}ris` } });
        }
      }
      await server.close();
    });
  }
});
