// npm run bench [-- --json] [--cases text,tool] [--repetitions 5] [--warm 4000]
// [--subjects floor,venturi-off,venturi,ai-sdk]
// Cost of a run as a ratio to the floor of the same repetition; only ratios mean something on a machine that is shared.
import { parseArgs } from "node:util";
import { median, stop, upstream, worker } from "./processes.mjs";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean" },
    cases: { type: "string", default: "text,tool,arguments,concurrent,paced" },
    repetitions: { type: "string", default: "5" },
    warm: { type: "string", default: "4000" },
    subjects: { type: "string", default: "floor,venturi-off,venturi" },
  },
});

const cases = {
  text: { model: "text-1000", count: 100 },
  tool: { model: "tool-200", count: 300 },
  arguments: { model: "arguments-1000000", count: 2 },
  concurrent: { model: "tool-200", count: 400, concurrent: 200 },
  paced: { paced: { streams: 1000, every: 200, chunks: 40 } },
};
const subjects = options.subjects.split(",");

const baseURL = await upstream();
const workers = new Map();
for (const subject of subjects) workers.set(subject, await worker(subject, baseURL));
const results = {};
for (const name of options.cases.split(",")) results[name] = await measure(name);
stop();

if (options.json) console.log(JSON.stringify({ date: new Date().toISOString(), node: process.version, results }));
else print();

async function measure(name) {
  if (cases[name].paced) return await measurePaced(cases[name].paced);
  const { model, count, concurrent } = cases[name];
  const repetitions = Object.fromEntries(subjects.map((subject) => [subject, []]));
  for (const ask of workers.values()) await ask({ model, concurrent, count: 1, atLeast: Number(options.warm) });
  for (let repetition = 0; repetition < Number(options.repetitions); repetition++) {
    for (const subject of subjects) repetitions[subject].push(await workers.get(subject)({ model, concurrent, count }));
  }
  return Object.fromEntries(subjects.map((subject) => [subject, summary(repetitions[subject], repetitions.floor)]));
}

/** Each in a fresh process: memory that an earlier case left behind would hide what streams take. */
async function measurePaced(paced) {
  const repetitions = Object.fromEntries(subjects.map((subject) => [subject, []]));
  for (let repetition = 0; repetition < Math.min(3, Number(options.repetitions)); repetition++) {
    for (const subject of subjects) {
      const ask = await worker(subject, baseURL);
      await ask({ model: "tool-200", count: 1, atLeast: 1_500 });
      repetitions[subject].push(await ask({ paced }));
      ask.stop();
    }
  }
  return Object.fromEntries(subjects.map((subject) => [subject, summary(repetitions[subject], repetitions.floor)]));
}

function summary(runs, floor) {
  return {
    cpu: median(runs.map(({ cpu }) => cpu)),
    wall: median(runs.map(({ wall }) => wall)),
    ratio: median(runs.map(({ cpu }, index) => cpu / floor[index].cpu)),
    ...(runs[0].stall === undefined
      ? {}
      : { stall: median(runs.map(({ stall }) => stall)), kilobytes: median(runs.map(({ kilobytes }) => kilobytes)) }),
  };
}

function print() {
  const plain = Object.keys(results).some((name) => cases[name].paced === undefined);
  if (plain) console.log("case         subject       cpu ms/run  wall ms/run  × floor");
  for (const [name, result] of Object.entries(results)) {
    const paced = cases[name].paced !== undefined;
    if (paced) console.log("case         subject        µs a chunk       p99 ms  × floor   stall ms  kB a stream");
    for (const [subject, { cpu, wall, ratio, stall, kilobytes }] of Object.entries(result)) {
      const cost = paced ? (cpu * 1000).toFixed(1) : cpu.toFixed(2);
      const figures = [cost.padStart(10), wall.toFixed(2).padStart(12), ratio.toFixed(2).padStart(8)];
      if (paced) figures.push(stall.toFixed(0).padStart(10), kilobytes.toFixed(0).padStart(12));
      console.log(name.padEnd(12), subject.padEnd(12), ...figures);
    }
  }
}
