// Whether the parts of a run's time add up to its root span, in a real service under load:
//   node bench/parts.mjs --runs 1000 --at-once 100
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openService } from "../dist/src/host/service.js";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "1000" }, "at-once": { type: "string", default: "100" } },
});
const runs = Number(values.runs);
const folder = mkdtempSync(join(tmpdir(), "venturi-parts-"));
const configFile = join(folder, "venturi.yaml");
writeFileSync(
  configFile,
  `
providers: { demo: { type: simulator, pace: 2 } }
tools: { clock: { type: clock }, calculator: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [clock, calculator] } }
journal: { type: sqlite, path: ./runs.db }
server: { listen: 0 }
telemetry: { ring: ${runs}, logs: { level: warn } }
`,
);
const service = await openService({ configFile });
const apart = [];
let left = runs;
try {
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, work));
} finally {
  await service.drain();
  rmSync(folder, { recursive: true, force: true });
}
apart.sort((one, other) => one - other);
console.log(
  `${apart.length} runs, ${values["at-once"]} at once: parts and root span are ${apart[apart.length >> 1].toFixed(3)} ms apart (median), ${apart.at(-1).toFixed(3)} ms at most`,
);
if (apart.at(-1) > 1) process.exitCode = 1;

async function work() {
  while (left-- > 0) {
    const body = JSON.stringify({ agent: "assistant", input: "What is 12 * 12, and what time is it in Berlin?" });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${service.url}/v1/runs`, { method: "POST", headers, body });
    const { run } = await answer.json();
    const document = await (await fetch(`${service.url}/v1/runs/${run}/trace`)).json();
    apart.push(difference(document));
  }
}

function difference({ resourceSpans }) {
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const root = spans.find(({ name }) => name.startsWith("invoke_agent"));
  const whole = Number(BigInt(root.endTimeUnixNano) - BigInt(root.startTimeUnixNano)) / 1e6;
  const parts = root.attributes
    .filter(({ key }) => key.startsWith("venturi.timing."))
    .reduce((sum, { value }) => sum + Number(Object.values(value)[0]), 0);
  return Math.abs(whole - parts);
}
