// How long after its arguments are complete does a tool start, while the model talks on for 2 s? On each of the five wires.
// node bench/eager.mjs [--repetitions 5] [--telemetry off]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openVenturi } from "../dist/src/index.js";

const { values: options } = parseArgs({
  options: { repetitions: { type: "string", default: "5" }, telemetry: { type: "string", default: "spans" } },
});
const sse = (data, event) => `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
const typed = (data) => sse(data, data.type);
const chat = (delta, finish = null) =>
  sse({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });
const gemini = (part, finish) =>
  sse({
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, ...(finish && { finishReason: finish }) }],
  });
const ollama = (message, rest = { done: false }) =>
  `${JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", content: "", ...message }, ...rest })}\n`;
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "lookup" };
const json = '{"city":"Paris"}';

/** What comes before the arguments' last piece, that piece, what closes the call, a word, and the end. */
const wires = {
  openai: {
    before: [chat({ role: "assistant", content: null }), fragment({ id: "call_1", type: "function" }, "lookup", "")],
    last: fragment({}, undefined, json),
    word: chat({ content: "word " }),
    end: `${chat({}, "tool_calls")}data: [DONE]\n\n`,
  },
  "openai-responses": {
    before: [
      typed({ type: "response.created", response: { id: "r", model: "m", status: "in_progress", output: [] } }),
      typed({ type: "response.output_item.added", output_index: 0, item: { ...call, arguments: "" } }),
    ],
    last: typed({ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 0, delta: json }),
    after: typed({ type: "response.output_item.done", output_index: 0, item: { ...call, arguments: json } }),
    word: typed({
      type: "response.output_text.delta",
      item_id: "m_1",
      output_index: 1,
      content_index: 0,
      delta: "word ",
    }),
    end: typed({ type: "response.completed", response: { id: "r", model: "m", status: "completed", output: [] } }),
  },
  anthropic: {
    before: [
      typed({ type: "message_start", message: { id: "m", model: "m", role: "assistant", content: [], usage: {} } }),
      typed({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "t", name: "lookup", input: {} },
      }),
    ],
    last: typed({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: json } }),
    after:
      typed({ type: "content_block_stop", index: 0 }) +
      typed({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
    word: typed({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "word " } }),
    end:
      typed({ type: "content_block_stop", index: 1 }) +
      typed({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } }) +
      typed({ type: "message_stop" }),
  },
  gemini: {
    before: [],
    last: gemini({ functionCall: { name: "lookup", args: { city: "Paris" } } }),
    word: gemini({ text: "word " }),
    end: gemini({ text: "." }, "STOP"),
  },
  ollama: {
    before: [],
    last: ollama({ tool_calls: [{ function: { name: "lookup", arguments: { city: "Paris" } } }] }),
    word: ollama({ content: "word " }),
    end: ollama({}, { done: true, done_reason: "stop" }),
  },
};

function fragment(rest, name, piece) {
  return chat({ tool_calls: [{ index: 0, ...rest, function: { ...(name && { name }), arguments: piece } }] });
}

const folder = mkdtempSync(join(tmpdir(), "venturi-eager-"));
let written = 0;
let started = 0;
let generations = 0;
globalThis.venturiEagerTool = {
  name: "lookup",
  description: "Looks up the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effect: "pure",
  call() {
    started = performance.now();
    return "sunny";
  },
};
writeFileSync(join(folder, "lookup.mjs"), "export default globalThis.venturiEagerTool;\n");

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
console.log(
  "wire                 median   slowest   (ms from the last piece of the arguments, written, to the tool's start)",
);
for (const [type, wire] of Object.entries(wires)) {
  const server = createServer((request, response) => request.resume().on("end", () => serve(response, wire)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}${type.startsWith("openai") ? "/v1" : ""}`;
  const configFile = join(folder, `${type}.yaml`);
  writeFileSync(
    configFile,
    `version: 1
providers: { up: { type: ${type}, ${type === "ollama" ? "" : "apiKey: x, "}baseUrl: ${JSON.stringify(baseUrl)} } }
tools: { lookup: { type: module, path: ./lookup.mjs } }
agents: { eager: { model: up/m, tools: [lookup] } }
journal: { type: memory }
channels: {}
telemetry: ${options.telemetry === "off" ? "off" : "{ chunks: spans, logs: { level: error } }"}
`,
  );
  const venturi = await openVenturi({ configFile, env: {} });
  const delays = [];
  // The first run loads what is used for the first time.
  for (let i = 0; i <= Number(options.repetitions); i++) {
    generations = 0;
    started = 0;
    for await (const chunk of venturi.agent("eager").streamExecute("go")) if (chunk.err) throw chunk.err;
    if (started === 0) throw new Error(`${type}: the tool was never called`);
    if (i > 0) delays.push(started - written);
  }
  delays.sort((left, right) => left - right);
  const median = delays[Math.floor(delays.length / 2)] ?? 0;
  console.log(type.padEnd(20), median.toFixed(1).padStart(6), (delays.at(-1) ?? 0).toFixed(1).padStart(9));
  await venturi.close();
  server.closeAllConnections();
  server.close();
}
rmSync(folder, { recursive: true });
process.exit();

/** The first generation calls the tool and talks on for 2 s; the one after its result ends at once. */
async function serve(response, { before, last, after = "", word, end }) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (generations++ > 0) return response.end(word + end);
  for (const piece of before) {
    response.write(piece);
    await wait(5);
  }
  written = performance.now();
  response.write(last);
  for (let i = 0; i < 20; i++) {
    await wait(100);
    response.write(i === 0 ? after + word : word);
  }
  response.end(end);
}
