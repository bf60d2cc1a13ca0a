// What an open stream keeps in memory, by class: the difference of two heap snapshots, before and while `streams` runs wait for their next chunk.
// node --expose-gc bench/memory.mjs [--streams 500] [--chunks 18] [--variant venturi|venturi-off|floor] [--top 25]
import { parseArgs } from "node:util";
import { getHeapSnapshot } from "node:v8";
import { stop, upstream } from "./processes.mjs";

const { values: options } = parseArgs({
  options: {
    streams: { type: "string", default: "500" },
    chunks: { type: "string", default: "18" },
    variant: { type: "string", default: "venturi" },
    top: { type: "string", default: "25" },
  },
});
const streams = Number(options.streams);
if (globalThis.gc === undefined) throw new Error("run it with node --expose-gc");

const baseURL = await upstream();
const file = options.variant === "floor" ? "./floor.mjs" : "./adapter.mjs";
const { run } = await (await import(file)).default({ baseURL, variant: options.variant });
const every = 200;
let arrived = 0;
const hooks = { text: () => arrived++, tool: () => "" };

// As many as are measured, so that pools, tables and code are there before.
await open();
await settled();
const before = await classes();
const rss = process.memoryUsage().rss;
arrived = 0;
const all = open(1_000);
while (arrived < streams * Number(options.chunks)) await new Promise((resolve) => setTimeout(resolve, 20));
const during = await classes();
const grown = process.memoryUsage().rss - rss;
report();
await all;
stop();
process.exit();

function open(more = Number(options.chunks)) {
  return Promise.all(
    Array.from({ length: streams }, () => run(`paced-${every}-${Math.min(more, Number(options.chunks) + 60)}`, hooks)),
  );
}

async function settled() {
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Bytes and count by constructor, or by kind where there is none. */
async function classes() {
  globalThis.gc();
  let text = "";
  const pieces = [];
  for await (const piece of getHeapSnapshot()) {
    text += piece;
    if (text.length > 1e7) {
      pieces.push(text);
      text = "";
    }
  }
  const { snapshot, nodes, strings } = JSON.parse(pieces.join("") + text);
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ["type", "name", "self_size"].map((field) => fields.indexOf(field));
  const found = new Map();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[type][nodes[at + type]];
    const key = kind === "object" || kind === "native" ? `${strings[nodes[at + name]]}` : `(${kind})`;
    const entry = found.get(key) ?? { bytes: 0, count: 0 };
    entry.bytes += nodes[at + size];
    entry.count++;
    found.set(key, entry);
  }
  return found;
}

function report() {
  const rows = [...during].map(([key, { bytes, count }]) => ({
    key,
    bytes: (bytes - (before.get(key)?.bytes ?? 0)) / streams,
    count: (count - (before.get(key)?.count ?? 0)) / streams,
  }));
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`${options.variant}: ${streams} open streams of ${options.chunks} chunks so far`);
  console.log(`live ${(total / 1000).toFixed(1)} kB a stream, RSS ${(grown / 1000 / streams).toFixed(0)} kB a stream`);
  console.log(" bytes a stream   objects  class");
  rows.sort((left, right) => right.bytes - left.bytes);
  for (const { key, bytes, count } of rows.slice(0, Number(options.top)))
    console.log(bytes.toFixed(0).padStart(15), count.toFixed(1).padStart(9), "", key.slice(0, 60));
}
