// What each trick of the hot path gains: CPU time by turns with it and without it, median. node --expose-gc bench/tricks.mjs [--turns 9]
import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { forgetKept } from "../dist/src/core/values/keep-one.js";
import { RepeatedJson, varying } from "../dist/src/provider/fast-json/repeated-json.js";
import adapter from "./adapter.mjs";

const turns = Number(parseArgs({ options: { turns: { type: "string", default: "9" } } }).values.turns);

await keptInstances();
await templates();
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
  // From bytes, as they come: a text that was joined would be flattened by its first reader.
  const texts = Array.from({ length: 1_000 }, (_, n) =>
    Buffer.from(JSON.stringify(chunk(` word${n % 97}`))).toString(),
  );
  const changing = varying([["choices", 0, "delta", "content"]]);
  await byTurns(["RepeatedJson: 1000 chunks of Chat Completions", "ms"], (fast) =>
    cpuOf(100, () => {
      const json = fast ? new RepeatedJson(changing) : JSON;
      for (const text of texts) json.parse(text);
    }),
  );
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
