// How long a chunk is under way from the provider to the reader, and how soon the first one comes. Asserts the two promises
// of the library: first chunk within 200 ms, each next within 100 ms of the provider sending it.
// node bench/latency.mjs [--streams 50] [--every 20] [--chunks 200]
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openVenturi } from "../dist/src/index.js";

const { values } = parseArgs({
  options: {
    streams: { type: "string", default: "50" },
    every: { type: "string", default: "20" },
    chunks: { type: "string", default: "200" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "venturi-latency-"));
const configFile = join(folder, "venturi.yaml");
writeFileSync(
  configFile,
  `version: 1
providers: { demo: { type: simulator } }
agents: { paced: { model: demo/stamp-${values.every}-${values.chunks} } }
journal: { type: memory }
channels: {}
telemetry: off
`,
);
const venturi = await openVenturi({ configFile, env: {} });
const firsts = [];
const delays = [];
await Promise.all(Array.from({ length: Number(values.streams) }, follow));
await venturi.close();
const [first, p50, p99, worst] = [
  quantile(firsts, 1),
  quantile(delays, 0.5),
  quantile(delays, 0.99),
  quantile(delays, 1),
];
console.log(`${values.streams} streams, a chunk every ${values.every} ms, ${delays.length} chunks`);
console.log(`first chunk: slowest ${first.toFixed(1)} ms after the call (promised: 200)`);
console.log(
  `under way: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, slowest ${worst.toFixed(1)} ms (promised: 100)`,
);
process.exitCode = first <= 200 && worst <= 100 ? 0 : 1;

async function follow() {
  const start = performance.now();
  let first = true;
  for await (const chunk of venturi.agent("paced").streamExecute("go")) {
    if (first) firsts.push(performance.now() - start);
    first = false;
    for (const [stamp] of (chunk.content ?? "").matchAll(/\d{16}/g)) {
      delays.push(performance.timeOrigin + performance.now() - Number(stamp) / 1000);
    }
  }
}

function quantile(numbers, share) {
  const sorted = numbers.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
