import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { WebSocket } from "ws";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Runs } from "../../src/core/ports/runs.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { openVenturi, type Venturi } from "../../src/index.ts";
import {
  atTerminal,
  byCommand,
  type Door,
  inProgram,
  overAgUi,
  overAiSdk,
  overClient,
  overHttp,
  overSocket,
} from "./question-doors.ts";

const days = { question: "Which day?", choices: ["Monday", "Tuesday"] };
const scenario = (name: string, asks: object, tool = "ask") =>
  `{ name: ${name}, turns: [{ calls: [{ name: ${tool}, arguments: ${JSON.stringify(asks)} }] }, { text: Noted. }] }`;
const config = (rest: string) => `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - ${scenario("text", { question: "Why?" })}
      - ${scenario("choice", days)}
      - ${scenario("form", { question: "Who comes?", fields: { name: "text", seats: "number" } })}
      - ${scenario("brief", { question: "Why?" }, "hurried")}
      - ${scenario("picky", days, "hurried")}
tools:
  ask: { type: ask }
  hurried: { type: ask, wait: 300ms, fallback: because }
agents:
  text: { model: demo/text, tools: [ask] }
  choice: { model: demo/choice, tools: [ask] }
  form: { model: demo/form, tools: [ask] }
  brief: { model: demo/brief, tools: [hurried] }
  picky: { model: demo/picky, tools: [hurried] }
journal: { type: sqlite, path: ./runs.db }
telemetry: off
${rest}
`;

const form = {
  type: "object",
  properties: { name: { type: "string" }, seats: { type: "number" } },
  required: ["name", "seats"],
  additionalProperties: false,
};
const questions = [
  { agent: "text", shown: { message: "Why?" }, right: "because of rain" },
  { agent: "choice", shown: { message: "Which day?", choices: days.choices }, wrong: "Sunday", right: "Tuesday" },
  {
    agent: "form",
    shown: { message: "Who comes?", schema: form },
    wrong: { name: "Ada", seats: "two" },
    right: { name: "Ada", seats: 2 },
  },
];

const names = ["HTTP", "the client", "WebSocket", "AI SDK", "AG-UI", "a program", "a command", "the terminal"] as const;

describe("a question is answered where it is shown", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-"));
  const configFile = join(folder, "venturi.yaml");
  const sockets = new Set<WebSocket>();
  let service: Service;
  let program: Venturi;
  let doors: Record<(typeof names)[number], { open: Door; runs: Runs }>;

  before(async () => {
    const channels = "channels: { http: {}, websocket: {}, ai-sdk: {}, ag-ui: {} }\nserver: { listen: 0 }";
    writeFileSync(configFile, config(channels));
    service = await openService({ configFile, env: {}, log: silentLog });
    const own = join(folder, "program.yaml");
    writeFileSync(own, config("channels: {}").replace("runs.db", "program.db"));
    program = await openVenturi({ configFile: own, env: {}, log: silentLog });
    const { url, host } = service;
    const { runs } = host;
    doors = {
      HTTP: { open: overHttp(url), runs },
      "the client": { open: overClient(url), runs },
      WebSocket: { open: overSocket(url, sockets), runs },
      "AI SDK": { open: overAiSdk(url), runs },
      "AG-UI": { open: overAgUi(url), runs },
      "a program": { open: inProgram(program), runs: program.runs },
      "a command": { open: byCommand(runs, url), runs },
      "the terminal": { open: atTerminal(runs), runs },
    };
  });
  after(async () => {
    for (const socket of sockets) socket.terminate();
    await program?.close();
    await service?.drain();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What the model got, and how often the question was answered. */
  const outcome = async (runs: Runs, run: string) => {
    const events: RunEvent[] = [];
    for await (const batch of runs.follow(run)) events.push(...batch);
    const output = events.flatMap((event) => (event.type === "tool.finished" ? [event.output] : []));
    return { output, answered: events.filter(({ type }) => type === "question.answered").length };
  };
  const asText = (answer: unknown) => (typeof answer === "string" ? answer : JSON.stringify(answer));
  const byAnother = (runs: Runs, { run, call }: { run: string; call: string }, answer: string) =>
    runs.signal(run, "approve", { call, approved: true, answer }, `approve:${call}`);

  for (const name of names) {
    for (const { agent, shown, wrong, right } of questions) {
      it(`${name}: ${agent}`, async () => {
        const { open, runs } = doors[name];
        const asked = await open(agent);
        expect(asked).to.deep.include(shown);
        if (wrong !== undefined) expect(await asked.answer(wrong)).to.equal("refused");
        expect(await asked.answer(right)).to.equal("taken");
        expect(await outcome(runs, asked.run)).to.deep.equal({ output: [asText(right)], answered: 1 });
      });
    }

    it(`${name}: who comes second is told so`, async () => {
      const { open, runs } = doors[name];
      const asked = await open("choice");
      expect(await byAnother(runs, asked, "Monday")).to.equal(true);
      expect(await asked.answer("Tuesday")).to.equal("late");
      expect(await outcome(runs, asked.run)).to.deep.equal({ output: ["Monday"], answered: 1 });
    });

    it(`${name}: of two at once one wins`, async () => {
      const { open, runs } = doors[name];
      const asked = await open("choice");
      const [here, there] = await Promise.all([asked.answer("Tuesday"), byAnother(runs, asked, "Monday")]);
      expect(here).to.equal(there ? "late" : "taken");
      const winner = there ? "Monday" : "Tuesday";
      expect(await outcome(runs, asked.run)).to.deep.equal({ output: [winner], answered: 1 });
    });
  }

  const inTime = [
    { agent: "brief", gets: /^because$/, how: "takes its fallback" },
    { agent: "picky", gets: /^There is no answer: nobody answered in time/, how: "counts as declined" },
  ];
  for (const { agent, gets, how } of inTime) {
    it(`when its time is up it ${how}, and whoever answers then is told so`, async () => {
      const told = names.map(async (name) => {
        const { open, runs } = doors[name];
        const asked = await open(agent);
        const { output, answered } = await outcome(runs, asked.run);
        expect(output.join(), name).to.match(gets);
        expect(answered, name).to.equal(1);
        return [name, await asked.answer("Tuesday")];
      });
      expect(await Promise.all(told)).to.deep.equal(names.map((name) => [name, "late"]));
    });
  }

  const pty = (spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "").includes("util-linux");
  it(`a terminal does not wait for a line when the time is up (script is ${pty ? "here" : "not here"})`, async function () {
    if (!pty) return this.skip();
    const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
    const line = `${process.execPath} --no-warnings ${bin} run brief hi --config ${join(folder, "program.yaml")}`;
    const child = spawn("script", ["-qfec", line, "/dev/null"], { env: { ...process.env, TERM: "xterm" } });
    let screen = "";
    child.stdout.on("data", (data) => {
      screen += data;
    });
    await once(child, "close");
    expect(screen).to.contain("Noted.");
    // On a machine that stalls for 300 ms the question is settled before it is shown.
    if (screen.includes("Type your answer")) expect(screen).to.contain("no answer any more");
  });
});
