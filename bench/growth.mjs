// How a run's cost grows: with its events, its session's turns, its agent's tools. `node bench/growth.mjs [--journal sqlite]`
// Exponent of processor time over size: 1 = linear. The provider stands in the process, so that only the runtime is seen.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVenturi } from "../dist/src/index.js";

const sqlite = process.argv.includes("sqlite");
const folder = mkdtempSync(join(tmpdir(), "venturi-growth-"));

globalThis.venturiGrowth = {
  deltas: 1,
  tools: (count) =>
    Array.from({ length: count }, (_, i) => ({
      name: `tool_${i}`,
      description: `Does the thing number ${i}.`,
      parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
      call: () => "done",
    })),
  async *stream(request) {
    // What every wire does with a request: look at all of it once.
    JSON.stringify(request);
    for (let i = 0; i < globalThis.venturiGrowth.deltas; i++) yield [{ type: "text", text: ` word${i}` }];
    yield [{ type: "done", finish: "stop" }];
  },
};
writeFileSync(
  join(folder, "scripted.mjs"),
  `import { definePlugin } from ${JSON.stringify(new URL("../dist/src/plugin.js", import.meta.url).href)};
import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
export default definePlugin({ name: "scripted", kind: "provider", description: "for benchmarks", options: z.strictObject({}), create: () => ({
  capabilities: { streaming: true, tools: true, vision: false, reasoning: false }, stream: globalThis.venturiGrowth.stream }) });\n`,
);
writeFileSync(
  join(folder, "many.mjs"),
  `import { definePlugin } from ${JSON.stringify(new URL("../dist/src/plugin.js", import.meta.url).href)};
import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
export default definePlugin({ name: "many", kind: "tool", description: "for benchmarks", options: z.strictObject({ count: z.number() }),
  create({ count }) { const tools = globalThis.venturiGrowth.tools(count); return { list: () => tools }; } });\n`,
);
writeFileSync(
  join(folder, "venturi.yaml"),
  `version: 1
plugins: ["./scripted.mjs", "./many.mjs"]
providers: { up: { type: scripted } }
tools: { tools10: { type: many, count: 10 }, tools100: { type: many, count: 100 }, tools1000: { type: many, count: 1000 } }
agents:
  plain: { model: up/m, instructions: Be brief. }
  with10: { model: up/m, instructions: Be brief., tools: [tools10] }
  with100: { model: up/m, instructions: Be brief., tools: [tools100] }
  with1000: { model: up/m, instructions: Be brief., tools: [tools1000] }
journal: ${sqlite ? `{ type: sqlite, path: ${join(folder, "venturi.db")} }` : "{ type: memory, keep: 3000 }"}
channels: {}
telemetry: off
`,
);
const venturi = await openVenturi({ configFile: join(folder, "venturi.yaml"), env: {} });
const plain = venturi.agent("plain");

await table("events of a run", [10, 100, 1000, 10_000], async (events) => {
  globalThis.venturiGrowth.deltas = events;
  return { per: events, run: () => plain.execute("go") };
});
globalThis.venturiGrowth.deltas = 10;
await table("turns of a session before the run", [10, 100, 1000], async (turns) => {
  const session = `session-${turns}`;
  for (let turn = 0; turn < turns; turn++) await plain.execute("go", { session });
  return { per: turns, run: () => plain.execute("go", { session }), most: Math.max(4, turns / 10) };
});
await table("tools of the agent", [10, 100, 1000], async (tools) => {
  const agent = venturi.agent(`with${tools}`);
  return { per: tools, run: () => agent.execute("go") };
});
await venturi.close();
process.exit();

async function table(name, sizes, prepare) {
  console.log(`\n${name} (${sqlite ? "sqlite" : "memory"} journal)`);
  const costs = [];
  for (const size of sizes) {
    const { per, run, most } = await prepare(size);
    const cost = await measured(run, most ?? Number.POSITIVE_INFINITY);
    costs.push(cost);
    console.log(
      `  ${String(size).padStart(6)}  ${cost.toFixed(3).padStart(9)} ms a run  ${((cost * 1000) / per).toFixed(2).padStart(9)} µs each`,
    );
  }
  const exponent = Math.log(costs.at(-1) / costs[0]) / Math.log(sizes.at(-1) / sizes[0]);
  const last = Math.log(costs.at(-1) / costs.at(-2)) / Math.log(sizes.at(-1) / sizes.at(-2));
  console.log(`  exponent ${exponent.toFixed(2)} over all, ${last.toFixed(2)} over the last step`);
}

/** Processor time of a run in ms: the least of five batches after a warm-up. */
async function measured(run, most) {
  const warm = performance.now();
  for (let i = 0; i < Math.min(most, 300) && performance.now() - warm < 1500; i++) await run();
  let least = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < 5; batch++) {
    const before = process.cpuUsage();
    const start = performance.now();
    let runs = 0;
    while (runs < Math.min(most, 200) && performance.now() - start < 600) {
      await run();
      runs++;
    }
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000 / runs);
  }
  return least;
}
