import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { stringify } from "yaml";
import { type Log, silentLog } from "../../src/core/ports/log.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { NamedAgent } from "../../src/library/named-agent.ts";
import type { Why } from "../../src/serve/why/why.ts";
import { venturi } from "../cli/venturi.ts";
import { testFolder } from "../host/folder.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const grind = `
export default {
  description: "Computes without pause", parameters: { type: "object" }, effect: "effectful",
  call() { const end = performance.now() + 1500; while (performance.now() < end); return "ground"; },
};
`;
const config = {
  providers: {
    demo: {
      type: "simulator",
      pace: 0,
      scenarios: [{ name: "grinder", turns: [{ calls: [{ name: "grind" }] }, { text: "done" }] }],
    },
  },
  tools: { grind: { type: "module", path: "./grind.mjs" } },
  agents: {
    steady: { model: "demo/pace-20-20" },
    long: { model: "demo/pace-20-100" },
    short: { model: "demo/pace-20-50" },
    wordy: { model: "demo/echo" },
    grinder: { model: "demo/grinder", tools: ["grind"] },
  },
  journal: { type: "sqlite", path: "./runs.db", lease: "3s" },
  server: { listen: 0 },
  limits: { drain: "100ms" },
};

/** Problems outside the model: each is planted in a real service and named by its `why`, as is the part of the time in its trace. */
describe("why, asked of a service", function () {
  this.timeout(180_000);
  // On a machine that withholds its processors for seconds, that is the largest cause, and `why` rightly names it.
  this.retries(2);
  const folder = testFolder();
  let service: Service;
  let configFile = "";
  let log: Log = silentLog;
  const child: ChildProcess[] = [];
  const open = async () => {
    configFile = folder.write({ "venturi.yaml": stringify(config), "grind.mjs": grind });
    service = await openService({ configFile, log });
  };
  afterEach(async () => {
    await service?.drain();
    for (const each of child.splice(0)) each.kill("SIGKILL");
    log = silentLog;
  });

  const start = async (agent: string) => (await service.host.runs.start({ agent, input: { text: "go" } })).run;
  const events = async function* (run: string): AsyncGenerator<RunEvent> {
    for await (const batch of service.host.runs.follow(run, { channel: "test" })) yield* batch;
  };
  const drain = async (run: string) => {
    for await (const _event of events(run));
  };
  const whyOf = async (run: string): Promise<Why> =>
    (await (await fetch(`${service.url}/v1/runs/${run}/why`)).json()) as Why;
  const shareOf = ({ parts }: Why, part: string) => parts.find((each) => each.part === part)?.ms ?? 0;

  it("names a locked database: slow_journal", async () => {
    await open();
    const run = await start("steady");
    for await (const { type } of events(run)) if (type === "text.delta") break;
    const lock = new DatabaseSync(folder.path("runs.db"), { timeout: 5_000 });
    lock.exec("BEGIN IMMEDIATE");
    setTimeout(() => {
      lock.exec("COMMIT");
      lock.close();
    }, 1_800);
    await drain(run);
    const why = await whyOf(run);
    expect(why.cause, why.summary).to.equal("slow_journal");
    expect(why.summary).to.match(/the run waited for the journal to take what it wrote/);
    const trace = await venturi(["trace", run, "--url", service.url, "--config", configFile]);
    expect(trace.out).to.match(/journal\.append \(slow\) +1\d{3} ms/);
  });

  it("names a tool that blocks the process, to the run that did nothing wrong: blocked_loop", async () => {
    await open();
    const victim = await start("long");
    for await (const { type } of events(victim)) if (type === "text.delta") break;
    const grinder = await start("grinder");
    await Promise.all([drain(victim), drain(grinder)]);
    const why = await whyOf(victim);
    expect(why.cause, why.summary).to.equal("blocked_loop");
    expect(why.summary).to.include(`tool grind of run ${grinder} kept the process busy`);
    expect(shareOf(why, "blocked")).to.be.above(1_000);
    const cli = await venturi(["why", victim, "--url", service.url, "--config", configFile]);
    expect(cli.out).to.match(/: blocked_loop\n.*tool grind of run/);
  });

  it("names a reader that does not read: slow_client", async () => {
    await open();
    let run = "";
    let chunks = 0;
    // More characters than a run may be ahead of its reader; how many events they become depends on the machine.
    const text = Array.from({ length: 50 }, () => "w".repeat(48_000)).join(" ");
    for await (const { metadata, content } of new NamedAgent("wordy", service.host.runs).streamExecute(text)) {
      run = metadata.run;
      // Longer than a busy machine may keep the process waiting meanwhile.
      if (content !== undefined && ++chunks === 1) await new Promise((resolve) => setTimeout(resolve, 5_000));
    }
    const why = await whyOf(run);
    expect(why.cause, why.summary).to.equal("slow_client");
    expect(why.summary).to.match(/the run waited for its reader \(library\)/);
    const trace = await venturi(["trace", run, "--url", service.url, "--config", configFile]);
    expect(trace.out).to.match(/deliver library \(stalled \d[.,]?\d+ /);
  });

  it("names a worker that was killed: taken_over, which the log has too", async () => {
    const lines: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
    const info = (message: string, fields = {}) => void lines.push({ message, fields });
    configFile = folder.write({ "venturi.yaml": stringify(config), "grind.mjs": grind });
    const first = spawn(process.execPath, ["--no-warnings", bin, "start", "--config", configFile]);
    child.push(first);
    const url = await listening(first);
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const body = JSON.stringify({ agent: "short", input: "go" });
    const run = await begun(await fetch(`${url}/v1/runs`, { method: "POST", headers, body }));
    first.kill("SIGKILL");
    await once(first, "exit");
    log = { ...silentLog, info };
    await open();
    await drain(run);
    const why = await whyOf(run);
    expect(why.cause, why.summary).to.equal("taken_over");
    expect(why.summary).to.match(/nobody worked on it: its worker was gone, and another took it over/);
    const taken = lines.find(({ message }) => message === "run taken over");
    expect(taken?.fields).to.include({ run, epoch: 2 });
    expect(taken?.fields.worker).to.be.a("string");
    expect(lines.map(({ message }) => message)).to.include("run finished");
  });
});

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("exit", () => reject(new Error(`the service did not start: ${said}`)));
    child.stderr?.on("data", (piece) => {
      said += piece;
      const url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

/** The run of an event stream, once it has said something. */
async function begun(response: Response): Promise<string> {
  let said = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    said += piece;
    if (said.includes("text.delta")) break;
  }
  return /"run":"(run_\w+)"/.exec(said)?.[1] ?? "";
}
