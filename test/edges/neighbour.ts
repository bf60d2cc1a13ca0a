import { setTimeout as sleep } from "node:timers/promises";
import { openRaw, textFrame } from "../plugins/channel-websocket/raw-socket.ts";
import { ServiceProcess } from "./service-process.ts";

const nested = (depth: number) => `{"value":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const call = (name: string, text: string) =>
  `      - { name: ${name}, turns: [{ calls: [{ name: look, fragments: [${JSON.stringify(text)}] }] }, { text: "told" }] }`;

const files = {
  "look.mjs": `export default { description: "Looks", parameters: { type: "object" }, effect: "pure", call: () => "seen" };`,
  "deep.mjs": `export default { description: "Deep", parameters: { type: "object" }, effect: "pure", call() {
    let value = {}; for (let level = 0; level < 20000; level++) value = { a: [value] }; return value; } };`,
  "venturi.yaml": `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - { name: hello, turns: [{ text: "Hello there, neighbour." }] }
${call("deep-call", nested(5_000))}
${call("deeper-call", nested(100_000))}
      - { name: deep-answer, turns: [{ text: [${JSON.stringify(nested(20_000))}] }, { text: [${JSON.stringify(nested(20_000))}] }] }
      - { name: deep-result, turns: [{ calls: [{ name: deep, arguments: {} }] }, { text: "told" }] }
      - { name: aaa, turns: [{ text: [${JSON.stringify(JSON.stringify({ text: `${"a".repeat(50_000)}!` }))}] }] }
tools: { look: { type: module, path: ./look.mjs }, deep: { type: module, path: ./deep.mjs } }
agents:
  hello: { model: demo/hello }
  deep-call: { model: demo/deep-call, tools: [look] }
  deeper-call: { model: demo/deeper-call, tools: [look] }
  deep-answer: { model: demo/deep-answer, output: { type: object } }
  deep-result: { model: demo/deep-result, tools: [deep] }
  aaa: { model: demo/aaa }
journal: { type: sqlite, path: ./runs.db }
channels: { http: {}, openai: {}, websocket: {} }
server: { listen: 0 }
limits: { stalled: 3s }
telemetry: { logs: { format: json } }
`,
};

type Attack = (service: ServiceProcess) => Promise<void>;

const post = async (service: ServiceProcess, path: string, body: unknown): Promise<number> => {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
};

const schemas: readonly unknown[] = [
  { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } },
  { type: "object", properties: { text: { type: "string", pattern: "^(a|aa)+$" } } },
  { anyOf: Array.from({ length: 2_000 }, (_, at) => ({ properties: { a: { const: at } }, required: ["a"] })) },
  {
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `d${at}`,
        { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]).concat([["d40", {} as never]]),
    ),
    $ref: "#/$defs/d0",
  },
];

/** What a hostile caller, model or tool does again and again while the neighbour works. */
export const attacks: Readonly<Record<string, Attack>> = {
  "values nested thousands deep": async (service) => {
    for (const agent of ["deep-call", "deeper-call", "deep-answer", "deep-result"]) await service.run(agent);
  },
  "schemas that take for ever": async (service) => {
    for (const schema of schemas) {
      const format = { type: "json_schema", json_schema: { name: "x", schema } };
      await post(service, "/v1/chat/completions", {
        model: "aaa",
        messages: [{ role: "user", content: "go" }],
        response_format: format,
      });
    }
  },
  "a socket that sends and never reads": async (service) => {
    const socket = await openRaw(service.url);
    const many = Buffer.concat(Array(500).fill(textFrame(JSON.stringify({ type: "ping", id: "i".repeat(200) }))));
    for (let sent = 0; sent < 60 && !socket.destroyed; sent++) {
      if (!socket.write(many)) await sleep(20);
    }
    await sleep(500);
    socket.destroy();
  },
};

export interface Figures {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** A neighbour's runs, one after the other, while the attack goes on for `ms`. */
export async function neighbourDuring(attack: string, ms: number): Promise<Figures> {
  const service = await ServiceProcess.start(files);
  const times: number[] = [];
  let failed = 0;
  let over = false;
  try {
    for (let warm = 0; warm < 5; warm++) await service.run("hello");
    const attacking = (async () => {
      while (!over) await (attacks[attack] ?? (() => sleep(100)))(service).catch(() => {});
    })();
    const end = performance.now() + ms;
    while (performance.now() < end) {
      const start = performance.now();
      const { body } = await service.run("hello");
      times.push(performance.now() - start);
      if (body.output !== "Hello there, neighbour.") failed += 1;
      await sleep(10);
    }
    over = true;
    await attacking;
  } finally {
    await service.stop();
  }
  times.sort((left, right) => left - right);
  const at = (share: number) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
  return { count: times.length, p50: at(0.5), p99: at(0.99), failed };
}
