// What each trick gains, by turns with it and without it, median. node --expose-gc bench/tricks.mjs [--turns 9]
import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { flatten } from "../dist/src/core/values/flat-text.js";
import { forgetKept } from "../dist/src/core/values/keep-one.js";
import { LongStrings } from "../dist/src/host/http/long-strings.js";
import { RepeatedJson } from "../dist/src/provider/fast-json/repeated-json.js";
import { varying } from "../dist/src/provider/fast-json/template.js";
import adapter from "./adapter.mjs";

const turns = Number(parseArgs({ options: { turns: { type: "string", default: "9" } } }).values.turns);

await keptInstances();
await templates();
await longStrings();
await flatTexts();
process.exit(0);

/** keepOne: three runs after a collection, with one object of each class kept and with none. */
async function keptInstances() {
  const upstream = fork(new URL("./raw-upstream.mjs", import.meta.url));
  const [port] = await once(upstream, "message");
  const { run } = await adapter({ baseURL: `http://127.0.0.1:${port}/v1`, variant: "venturi" });
  const hooks = { text() {}, tool: () => "sunny" };
  for (let n = 0; n < 60; n++) await run("tool-1000", hooks);
  await byTurns(["keepOne: a run of 1000 chunks after a collection", "ms"], async (kept) => {
    await run("tool-1000", hooks);
    if (!kept) forgetKept();
    for (let n = 0; n < 4; n++) globalThis.gc();
    return await cpuOf(3, () => run("tool-1000", hooks));
  });
  upstream.kill();
}

/** RepeatedJson: the chunks of one stream, each with another word. */
async function templates() {
  const chunk = (content) => ({
    id: "chatcmpl-0123456789abcdefghij",
    object: "chat.completion.chunk",
    created: 1790000000,
    model: "m",
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
    usage: null,
  });
  // Slices of a read, as they come: reading one character of a slice takes several times as long as of a text of its own.
  const lines = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(chunk(` word${n % 97}`)));
  const read = Buffer.from(lines.join("\n")).toString();
  const texts = [];
  for (let at = 0; at < read.length; at += texts.at(-1).length + 1)
    texts.push(read.slice(at, (read.indexOf("\n", at) + 1 || read.length + 1) - 1));
  const changing = varying([["choices", 0, "delta", "content"]], [["id"], ["created"]]);
  await byTurns(["RepeatedJson: 1000 chunks of Chat Completions", "ms"], (fast) =>
    cpuOf(100, () => {
      const json = fast ? new RepeatedJson(changing) : JSON;
      for (const text of texts) json.parse(text);
    }),
  );
}

/** LongStrings: the longest turn that a body of 20 MiB takes, in pieces of 64 KiB as they come. */
async function longStrings() {
  const body = Buffer.from(JSON.stringify({ agent: "a", input: "x\\n".repeat(7 * 1024 * 1024) }));
  const pieces = [];
  for (let at = 0; at < body.length; at += 65_536) pieces.push(body.subarray(at, at + 65_536));
  await byTurns(["LongStrings: the longest turn for a body of 20 MiB", "ms"], (taken) => {
    const strings = new LongStrings();
    const whole = [];
    let longest = 0;
    const turn = (work) => {
      const start = performance.now();
      work();
      longest = Math.max(longest, performance.now() - start);
    };
    for (const piece of pieces) turn(() => (taken ? strings.push(piece) : whole.push(piece)));
    turn(() => (taken ? strings.restore(JSON.parse(strings.end())) : JSON.parse(Buffer.concat(whole).toString())));
    return longest;
  });
}

/** flatten: the heap that answers of 20,000 tokens take while they grow. */
async function flatTexts() {
  await byTurns(["flatten: the heap of ten answers of 20,000 tokens", "MB"], (flat) => {
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    const texts = Array.from({ length: 10 }, () => "");
    const next = texts.map(() => 0);
    for (let token = 0; token < 20_000; token++) {
      for (let n = 0; n < texts.length; n++) {
        texts[n] += ` w${token % 997}`;
        if (flat && texts[n].length > next[n]) next[n] = flatten(texts[n]);
      }
    }
    globalThis.gc();
    const held = process.memoryUsage().heapUsed - before;
    return texts.length === 10 ? held / 1e6 : 0;
  });
}

async function byTurns([name, unit], measure) {
  const times = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    times[0].push(await measure(true));
    times[1].push(await measure(false));
  }
  const [withIt, without] = times.map((all) => all.sort((a, b) => a - b)[all.length >> 1].toFixed(2));
  console.log(`${name}: ${withIt} ${unit}, without it ${without} ${unit}`);
}

async function cpuOf(repeats, work) {
  const before = process.cpuUsage();
  for (let n = 0; n < repeats; n++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / repeats;
}
