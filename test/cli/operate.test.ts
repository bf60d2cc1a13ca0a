import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { render } from "../../src/cli/why.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const config = (listen: number) => `
providers: { demo: { type: simulator, pace: 0 }, broken: { type: simulator, faults: status=400 } }
tools: { sum: { type: calculator, approval: always } }
agents:
  assistant: { model: demo/small }
  asking: { model: demo/small, tools: [sum] }
  failing: { model: broken/small }
channels: { http: {} }
server: { listen: ${listen} }
limits: { drain: 100ms }
telemetry: { logs: { level: silent } }
`;

describe("commands for the running service", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service | undefined;
  let configFile = "";
  beforeEach(async () => {
    configFile = folder.write({ "venturi.yaml": config(0) });
    service = await openService({ configFile, log: silentLog });
  });
  afterEach(async () => {
    await service?.drain();
    service = undefined;
  });
  const here = (...words: string[]) => venturi([...words, "--config", configFile]);
  const ended = async (agent: string): Promise<string> => {
    if (service === undefined) throw new Error("no service");
    const { run } = await service.host.runs.start({ agent, input: { text: "What is 17 * 23?" } });
    for await (const batch of service.host.runs.follow(run))
      if (batch.some(({ type }) => type === "approval.requested")) break;
    return run;
  };

  it("runs --follow goes on: a line when a run begins, changes and ends, until Ctrl-C", async () => {
    const first = await ended("assistant");
    const child = spawn(process.execPath, ["--no-warnings", bin, "runs", "--follow", "--config", configFile]);
    let out = "";
    const until = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => pattern.test(out) && resolve();
        child.stdout.on("data", look);
        look();
      });
    child.stdout.on("data", (data) => {
      out += data;
    });
    const exit = once(child, "exit");
    await until(new RegExp(`${first}  finished`));
    const asking = await ended("asking");
    await until(new RegExp(`${asking}  waiting`));
    const [{ call = "" } = {}] = (await service?.host.runs.pending(asking)) ?? [];
    await service?.host.runs.signal(asking, "approve", { call, approved: false });
    await until(new RegExp(`${asking}  finished`));
    child.kill("SIGINT");
    expect((await exit)[0]).to.equal(0);
    expect(out.match(new RegExp(first, "g"))).to.have.length(1);
  });

  it("runs lists what there is, by status, agent and time, beside the service that works on it", async () => {
    const good = await ended("assistant");
    const bad = await ended("failing");
    const waiting = await ended("asking");
    const all = await here("runs");
    expect(all.exit, all.err).to.equal(0);
    expect(all.out.match(/run_\w+/g)).to.deep.equal([good, bad, waiting]);
    expect((await here("runs", "--status", "failed")).out)
      .to.contain(bad)
      .and.not.contain(good);
    expect((await here("runs", "--status", "waiting")).out)
      .to.contain(waiting)
      .and.match(/ waiting /);
    const json = (await here("runs", "--agent", "assistant", "--since", "1h", "--json")).out;
    expect(JSON.parse(json)).to.include({ run: good, status: "finished", agent: "assistant" });
    const wrong = await here("runs", "--status", "done");
    expect([wrong.exit, wrong.err]).to.deep.equal([
      2,
      'cli.run: cli.runs: invalid_input: --status: "done" is none of ready, running, waiting, finished, failed, cancelled\n',
    ]);
    expect((await here("runs", "--since", "soon")).exit).to.equal(2);
  });

  it("why names the cause over the service, and from the journal when no service runs", async () => {
    const run = await ended("failing");
    const url = service?.url ?? "";
    const over = await here("why", run, "--url", url);
    expect(over.err).to.equal("");
    expect(over.out)
      .to.contain(": provider_error\n")
      .and.contain("answered 400")
      .and.match(/failedAttempt|runtime/);
    await service?.drain();
    service = undefined;
    const offline = await here("why", run, "--url", url);
    expect(offline.out).to.contain(": provider_error\n").and.contain("answered 400");
    const unknown = await here("why", "run_nope", "--url", url);
    expect(unknown.exit).to.equal(1);
    expect(unknown.err).to.contain("`venturi runs` lists them");
  });

  it("why says in words that nothing stands out", () => {
    const why = {
      run: "run_1",
      agent: "a",
      meaning: "nothing stands out",
      summary: "It streamed.",
      ms: 200,
      parts: [],
    };
    expect(render({ ...why, cause: "nothing" })).to.match(/^run_1 \(a\), 200 ms: nothing stands out\n/);
  });

  it("GET /v1/runs/{run}/why answers the same, and 404 for a run that is not there", async () => {
    const run = await ended("failing");
    const response = await fetch(`${service?.url}/v1/runs/${run}/why`);
    const why = (await response.json()) as { cause: string; parts: unknown[]; summary: string };
    expect([response.status, why.cause]).to.deep.equal([200, "provider_error"]);
    expect((await fetch(`${service?.url}/v1/runs/nope/why`)).status).to.equal(404);
  });

  it("audit says so when nothing is recorded", async () => {
    const { exit, out, err } = await here("audit");
    expect([exit, out, err]).to.deep.equal([0, "", "nothing is recorded\n"]);
    const json = await here("audit", "--json");
    expect([json.exit, json.out, json.err]).to.deep.equal([0, "", ""]);
  });

  it("approvals lists what waits for a person, and answers it", async () => {
    const run = await ended("asking");
    const url = ["--url", service?.url ?? ""];
    const listed = await here("approvals", ...url);
    expect(listed.out).to.contain(run).and.contain("asking: sum");
    const denied = await here("approvals", run, "--deny", "--reason", "not today", ...url);
    expect(denied.out).to.match(new RegExp(`^${run} \\S+ denied\n$`));
    for await (const _batch of service?.host.runs.follow(run) ?? []);
    const none = await here("approvals", ...url);
    expect([none.exit, none.out, none.err]).to.deep.equal([0, "", "no pending questions\n"]);
    const again = await here("approvals", run, "--approve", ...url);
    expect(again.err).to.contain("waits for nobody");
  });
});
