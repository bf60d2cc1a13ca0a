// The stream's cost and how it grows: framing, decoding, accumulation. Run `npm run build` first, then `node bench/stream.mjs`.
// Machines are noisy, so each figure is the best of several runs, and growth is the exponent of time over size (1 = linear).
import { ChatDecoder } from "../dist/plugins/openai/decoder.js";
import { ResponsesDecoder } from "../dist/plugins/openai-responses/decoder.js";
import { Accumulator } from "../dist/src/provider/accumulate.js";
import { Pipeline } from "../dist/src/provider/decode.js";
import { framesOf } from "../dist/src/provider/frames/framing.js";

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);

const chunk = (text) =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
const chatEnd =
  'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const chat = (chunks) => Buffer.from(chunk(" token").repeat(chunks) + chatEnd);
const responses = (chunks) =>
  Buffer.from(
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" token"}\n\n'.repeat(
      chunks,
    ) +
      'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}\n\n',
  );

header("framing (SSE), by the size of a read");
const body = chat(20_000);
for (const size of [65_536, 4_096, 256, 16, 1]) {
  const ms = best(() => frame("sse", body, size));
  row(`${size} bytes a read`, ms, `${perSecond(body.length, ms)}, ${((ms * 1e6) / body.length).toFixed(1)} ns/byte`);
}
growth("framing in 1-byte reads", [2_500, 5_000, 10_000, 20_000], (chunks) => {
  const bytes = chat(chunks);
  return () => frame("sse", bytes, 1);
});

header("framing: one event of n bytes, in reads of 1 KiB");
growth("one event", [1 << 20, 1 << 21, 1 << 22, 1 << 23], (size) => {
  const bytes = Buffer.from(`data: "${"x".repeat(size)}"\n\n`);
  return () => frame("sse", bytes, 1024);
});

header("framing: one line of n bytes, in 1-byte reads");
growth("one event, 1-byte reads", [1 << 18, 1 << 19, 1 << 20, 1 << 21], (size) => {
  const bytes = Buffer.from(`data: "${"x".repeat(size)}"\n\n`);
  return () => frame("sse", bytes, 1);
});

header("bytes to deltas, 64 KiB a read");
for (const [name, decoder, bytes, count] of [
  ["openai-chat", () => new ChatDecoder(), chat(50_000), 50_000],
  ["openai-responses", () => new ResponsesDecoder(), responses(50_000), 50_000],
]) {
  const framed = best(() => frame("sse", bytes, 65_536));
  const parsed = best(() => parseOnly(bytes));
  const ms = best(() => decode(decoder, bytes, 65_536));
  row(
    name,
    ms,
    `${((ms * 1e3) / count).toFixed(2)} µs/chunk, ${(ms / parsed).toFixed(2)} × framing and JSON.parse alone, ${(ms / framed).toFixed(1)} × framing alone`,
  );
}
growth("decoding openai-chat", [12_500, 25_000, 50_000, 100_000], (chunks) => {
  const bytes = chat(chunks);
  return () => decode(() => new ChatDecoder(), bytes, 65_536);
});

header("accumulating one call's arguments in 16-byte fragments");
growth("Accumulator", [10_000, 100_000, 1_000_000], accumulating);
growth("parsing the text so far at every fragment, for comparison", [10_000, 20_000, 40_000, 80_000], reparsing);

function frame(framing, bytes, size) {
  const frames = framesOf(framing);
  const out = [];
  for (let at = 0; at < bytes.length; at += size) {
    frames.push(bytes.subarray(at, at + size), out);
    out.length = 0;
  }
  frames.end(out);
}

function parseOnly(bytes) {
  const frames = framesOf("sse");
  const out = [];
  for (let at = 0; at < bytes.length; at += 65_536) {
    frames.push(bytes.subarray(at, at + 65_536), out);
    for (const { data } of out) if (data !== "[DONE]") JSON.parse(data);
    out.length = 0;
  }
}

function decode(decoder, bytes, size) {
  const pipeline = new Pipeline("provider.stream", { framing: "sse", decoder });
  let deltas = 0;
  for (let at = 0; at < bytes.length; at += size) {
    const out = [];
    pipeline.push(bytes.subarray(at, at + size), out);
    deltas += out.length;
  }
  const out = [];
  pipeline.end(out);
  return deltas + out.length;
}

function fragmentsOf(size) {
  const text = JSON.stringify({ rows: Array.from({ length: Math.ceil(size / 22) }, (_, i) => `row ${i} of "many"`) });
  const fragments = [];
  for (let at = 0; at < size; at += 16) fragments.push(text.slice(at, at + 16));
  fragments.push(text.slice(fragments.length * 16));
  return fragments;
}

function accumulating(size) {
  const fragments = fragmentsOf(size);
  return () => {
    const accumulator = new Accumulator();
    accumulator.push({ type: "tool_call", index: 0, id: "c", name: "t" });
    for (const piece of fragments) accumulator.push({ type: "tool_call", index: 0, arguments: piece });
    if (!accumulator.open[0].result().ok) throw new Error("the arguments did not survive");
  };
}

/** What peers do to know whether the arguments are complete. */
function reparsing(size) {
  const fragments = fragmentsOf(size);
  return () => {
    let text = "";
    for (const piece of fragments) {
      text += piece;
      try {
        JSON.parse(text);
      } catch {
        // not complete yet
      }
    }
  };
}

function best(run) {
  run();
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    run();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

function growth(name, sizes, prepare) {
  prepare(sizes[0])(); // compiled before it is measured
  const times = sizes.map((size) => best(prepare(size)));
  for (const [i, size] of sizes.entries()) {
    const ratio = i === 0 ? "" : `× ${(times[i] / times[i - 1]).toFixed(2)} for × ${(size / sizes[i - 1]).toFixed(0)}`;
    row(`n = ${size}`, times[i], ratio);
  }
  const exponent = Math.log(times.at(-1) / times[0]) / Math.log(sizes.at(-1) / sizes[0]);
  console.log(`  ${name}: exponent ${exponent.toFixed(2)}`);
}

function header(text) {
  console.log(`\n${text}`);
}

function row(name, ms, rest) {
  console.log(`  ${name.padEnd(22)} ${ms.toFixed(2).padStart(9)} ms  ${rest}`);
}

function perSecond(bytes, ms) {
  return `${(bytes / 1e6 / (ms / 1e3)).toFixed(0)} MB/s`;
}
