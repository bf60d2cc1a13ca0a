import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type RequestOptions, request } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "../../../src/host/config/load.ts";
import { venturi } from "../../cli/venturi.ts";
import { readSse } from "../../sse.ts";
import { testFolder } from "../folder.ts";
import { Started } from "./started.ts";

const key = "a-key";
const hash = createHash("sha256").update(key).digest("hex");
const config = (more = "", journal = "{ type: sqlite, path: ./data/venturi.db }") => `
dataFolder: ./data
providers: { demo: { type: simulator, pace: 0 } }
agents:
  assistant: { model: demo/small }
  story: { model: demo/pace-20-250 }
  endless: { model: demo/pace-50-5000 }
journal: ${journal}
channels: { http: {} }
server: { listen: 0, processes: 2${more} }
limits: { drain: 500ms }
telemetry: { logs: { format: text } }
`;

interface Busy {
  readonly number: number;
  readonly pid: number;
  readonly runs: number;
}

/** The process with the most runs, once one has any. */
async function busiest(service: Started): Promise<Busy> {
  for (;;) {
    const { processes } = (await (await service.fetch("/v1/service")).json()) as { processes: Busy[] };
    const [most] = processes.toSorted((left, right) => right.runs - left.runs);
    if (most !== undefined && most.runs > 0) return most;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a service of several processes", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const started: Started[] = [];
  let service: Started;
  let file = "";
  const begin = async (text = config()) => {
    const path = folder.write({ "venturi.yaml": text });
    const each = new Started(path);
    started.push(each);
    return await each.listening();
  };
  const stop = async (each: Started) => {
    each.child.kill("SIGTERM");
    each.child.kill("SIGTERM");
    await each.ended;
  };
  before(async () => {
    file = join(mkdtempSync(join(tmpdir(), "venturi-")), "venturi.yaml");
    writeFileSync(file, config());
    service = await new Started(file).listening();
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await stop(each);
  });
  after(async () => {
    await stop(service);
    rmSync(dirname(file), { recursive: true, force: true });
  });

  it("has one port, one /readyz and one /metrics, and each is in `venturi doctor`", async () => {
    const states = await service.all("ready", 2);
    expect(states.map(({ number }) => number)).to.deep.equal([1, 2]);
    for (let count = 1; count <= 4; count++) {
      const answer = await service.fetch("/v1/runs", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"agent":"assistant","input":"hi"}',
      });
      expect(answer.status).to.equal(200);
      expect(await service.metric("gen_ai_invoke_agent_duration_seconds_count")).to.equal(count);
    }
    expect(await service.metric("venturi_processes_ready")).to.equal(2);
    const { processes } = (await (await service.fetch("/v1/service")).json()) as { processes: object[] };
    const shown = states.map(({ number, pid }) => ({ number, pid, status: "ready", restarts: 0, runs: 0 }));
    for (const [index, one] of processes.entries()) expect(one).to.deep.include(shown[index]);
    expect(processes).to.have.length(2);
    const port = new URL(service.url).port;
    const { out } = await venturi(["doctor", "--config", file, "--set", `server.listen=${port}`]);
    for (const { number, pid } of states) expect(out).to.match(new RegExp(`process ${number} +pid ${pid}, ready`));
  });

  it("an error at the start is reported once, with its exit status", async () => {
    const { port } = new URL(service.url);
    const { exit, err } = await venturi(["start", "--config", file, "--set", `server.listen=${port}`]);
    expect(exit).to.equal(1);
    expect(err.match(/another program already listens/g)).to.have.length(1);
  });

  it("a cancel reaches the run, and its trace is found, whichever process is asked", async () => {
    for (let count = 0; count < 4; count++) {
      const run = await service.start("endless");
      if (count % 2 === 1) await service.fetch("/livez");
      const answer = await service.fetch(`/v1/runs/${run}/cancel`, { method: "POST" });
      expect(answer.status).to.equal(200);
      const { status } = (await (await service.fetch(`/v1/runs/${run}`)).json()) as { status: string };
      expect(status).to.equal("cancelled");
      for (const _ of [1, 2]) expect((await service.fetch(`/v1/runs/${run}/trace`)).status).to.equal(200);
    }
  });

  it("a killed process is replaced, a sibling takes its runs over within 3 s, and no stream has a gap", async () => {
    await service.all("ready", 2);
    const runs = await Promise.all(Array.from({ length: 6 }, () => service.start("story")));
    const counted = await service.metric("venturi_chunks_total");
    const followed = runs.map((run) => followToEnd(service, run));
    // Connections go to whichever process is quicker, so one of them may have no run.
    const victim = await busiest(service);
    process.kill(victim.pid, "SIGKILL");
    for (const seqs of await Promise.all(followed)) expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1));
    const resumed = [...service.said.matchAll(/run resumed .*idleMs=(\d+)/g)].map(([, ms]) => Number(ms));
    expect(Math.min(...resumed)).to.be.below(3_000);
    expect(Math.max(...resumed)).to.be.below(10_000); // The lease: without a notice of the death, runs are taken over when it expires.
    const after = await service.all("ready", 2);
    const replaced = after.find(({ number }) => number === victim.number);
    expect(replaced?.restarts).to.equal(1);
    expect(replaced?.pid).not.to.equal(victim.pid);
    // What the dead process had told is still in the sum.
    expect(await service.metric("venturi_chunks_total")).to.be.at.least(counted);
    expect(await service.metric("venturi_process_restarts_total")).to.equal(1);
  });

  it("SIGUSR2 replaces every process; a run that takes longer is handed over and nothing of it is lost", async () => {
    const before = await service.all("ready", 2);
    const runs = await Promise.all(Array.from({ length: 4 }, () => service.start("endless")));
    service.child.kill("SIGUSR2");
    await service.until(() => service.said.includes("all processes were replaced"));
    await service.until(() => runs.every((run) => service.said.includes(`run resumed run=${run}`)));
    for (const run of runs) await service.fetch(`/v1/runs/${run}/cancel`, { method: "POST" });
    for (const run of runs) {
      const seqs = await followToEnd(service, run);
      expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1));
    }
    const after = await service.all("ready", 2);
    const old = new Set(before.map(({ pid }) => pid));
    expect(after.filter(({ pid }) => old.has(pid))).to.deep.equal([]);
  });

  it("SIGHUP reloads every process, and an invalid config changes none", async () => {
    writeFileSync(file, config().replace("  assistant:", "  helper: { model: demo/small }\n  assistant:"));
    service.child.kill("SIGHUP");
    await service.until(() => (service.said.match(/config\.reload config=/g) ?? []).length === 2);
    for (let count = 0; count < 4; count++) expect(await service.start("helper")).to.match(/^run_/);
    writeFileSync(file, config().replace("demo/small", "nobody/small"));
    service.child.kill("SIGHUP");
    await service.until(() => service.said.includes("the config was refused"));
    for (let count = 0; count < 4; count++) expect(await service.start("helper")).to.match(/^run_/);
    writeFileSync(file, config()); // new processes load it again
  });

  it("connections that arrive while no process is up are accepted by the next one", async () => {
    const states = await service.all("ready", 2);
    for (const { pid } of states) process.kill(pid, "SIGKILL");
    while (states.some(({ pid }) => isAlive(pid))) await new Promise((resolve) => setTimeout(resolve, 5));
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.fetch("/livez")));
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    await service.all("ready", 2);
  });

  it("packs its runs into the first process; the next one takes them while that is blocked, and leaves them again", async () => {
    const own = await begin(config("", "{ type: sqlite, path: ./packed.db }"));
    const runs = async () => (await own.all("ready", 2)).map((each) => each.runs ?? 0);
    /** Starting is work too, and so is being stopped: until ten calm seconds have passed both may take runs. */
    const packed = async () => {
      for (;;) {
        const [, before = 0] = await runs();
        for (let count = 0; count < 6; count++) await own.start("endless");
        const [first = 0, second] = await runs();
        if (second === before) return { first, second };
        await new Promise((resolve) => setTimeout(resolve, 11_000));
      }
    };
    const { first, second } = await packed();
    expect(first).to.be.at.least(6);
    const [{ pid } = { pid: 0 }] = await own.all("ready", 2);
    process.kill(pid, "SIGSTOP");
    const taken = await Promise.all(Array.from({ length: 6 }, () => own.start("endless")));
    process.kill(pid, "SIGCONT");
    expect(taken.every((run) => run.startsWith("run_"))).to.equal(true);
    const [, helped] = await runs();
    expect(helped).to.be.at.least(second + 6);
    expect((await packed()).first).to.be.at.least(first + 6);
    process.kill(pid, "SIGKILL");
    for (let count = 0; count < 4; count++) expect(await own.start("assistant")).to.match(/^run_/);
  });

  it("takes as many runs as its processes may have together, also from a client that keeps its connection", async () => {
    const own = await begin(config().replace("drain: 500ms", "drain: 500ms, activeRuns: 4, queue: 0"));
    await own.all("ready", 2);
    for (let begun = 0; begun < 8; ) if ((await own.start("endless")) !== "") begun++;
    expect((await own.all("ready", 2)).map((each) => each.runs)).to.deep.equal([4, 4]);
  });

  it("spreads them over all processes when it is asked to", async () => {
    const own = await begin(config(", placement: even", "{ type: sqlite, path: ./even.db }"));
    await own.all("ready", 2);
    for (let begun = 0; ; begun++) {
      await Promise.all(Array.from({ length: 8 }, () => own.start("endless")));
      const states = await own.all("ready", 2);
      if (states.every(({ runs = 0 }) => runs > 0)) break;
      expect(begun).to.be.below(30);
    }
  });

  it("a full process gives connections to one with room, also when a gateway keeps only a few", async () => {
    const own = await begin();
    await own.all("ready", 2);
    const agent = new Agent({ keepAlive: true, maxSockets: 6 });
    const told = new Set<string | undefined>();
    const run = { method: "POST", headers: { "content-type": "application/json" } };
    const client = async () => {
      while (!told.has("close"))
        told.add(await kept(`${own.url}/v1/runs`, agent, run, '{"agent":"assistant","input":"hi"}'));
    };
    await Promise.all(Array.from({ length: 24 }, client));
    agent.destroy();
  });

  it("a process with far more connections than its sibling closes some, so that clients reconnect", async () => {
    const [first] = await service.all("ready", 2);
    const agent = new Agent({ keepAlive: true, maxSockets: 40 });
    const ask = () => Promise.all(Array.from({ length: 40 }, () => kept(`${service.url}/livez`, agent)));
    try {
      process.kill(first?.pid ?? 0, "SIGSTOP");
      const told = await ask(); // The other process may see its surplus before all are answered.
      process.kill(first?.pid ?? 0, "SIGCONT");
      while (!told.includes("close")) told.push(...(await ask()));
    } finally {
      process.kill(first?.pid ?? 0, "SIGCONT");
      agent.destroy();
    }
  });

  it("SIGTERM drains all of them and ends with 0", async () => {
    const run = await service.start("endless");
    service.child.kill("SIGTERM");
    expect(await service.ended).to.equal(0);
    expect(service.said).to.contain(`run failed run=${run}`).and.to.contain("shutting_down");
    expect(existsSync(join(dirname(file), "data/venturi.pid"))).to.equal(false);
  });

  it("SIGTERM while processes are replaced ends all of them at once, with 0 and without a complaint", async () => {
    const own = await begin();
    const before = Date.now();
    own.child.kill("SIGUSR2");
    await new Promise((resolve) => setTimeout(resolve, 150)); // the first replacement is starting
    own.child.kill("SIGTERM");
    expect(await own.ended).to.equal(0);
    expect(own.said).to.not.match(/ error /);
    expect(own.said).to.not.match(/killed|could be started/);
    expect(Date.now() - before).to.be.below(15_000); // it took the drain and ten seconds
  });

  it("a key's requests are counted together; without their supervisor the processes end", async () => {
    const auth = `, auth: { keys: [{ id: ci, sha256: "${hash}", may: [start, see], requestsPerMinute: 4 }] }`;
    const limited = await begin(config(auth));
    const codes = [];
    for (let count = 0; count < 8; count++) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const answer = await limited.fetch("/v1/runs", { method: "POST", headers, body: "{}" });
      codes.push(answer.status);
    }
    expect(codes).to.deep.equal([400, 400, 400, 400, 429, 429, 429, 429]);
    const states = await limited.all("ready", 2);
    limited.child.kill("SIGKILL");
    while (states.some(({ pid }) => isAlive(pid))) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  for (const journal of ["{ type: memory }", '{ type: sqlite, path: ":memory:" }']) {
    it(`is refused with the journal ${journal} before it starts`, async () => {
      const path = folder.write({ "venturi.yaml": config("", journal) });
      const refused = await loadConfig({ file: path }).catch((thrown: unknown) => thrown);
      expect(String(refused)).to.contain("2 processes (server.processes) cannot share");
      await loadConfig({ file: path, set: ["server.processes=1"] });
    });
  }

  it("the config takes auto, and refuses what is no number of processes", async () => {
    const path = folder.write({ "venturi.yaml": config() });
    const { server } = await loadConfig({ file: path, set: ["server.processes=auto"] });
    expect(server.processes).to.equal(availableParallelism());
    for (const value of ["0", "many", "1.5"]) {
      const refused = await loadConfig({ file: path, set: [`server.processes=${value}`] }).catch((thrown) => thrown);
      expect(String(refused), value).to.contain("server.processes");
    }
  });
});

/** What the answer says about its connection. */
function kept(url: string, agent: Agent, options: RequestOptions = {}, body?: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, agent }, (answer) => {
      answer.resume().on("end", () => resolve(answer.headers.connection));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Seqs of all events, resumed with Last-Event-ID when the stream is cut. */
async function followToEnd(service: Started, run: string): Promise<number[]> {
  const seqs: number[] = [];
  for (;;) {
    try {
      const headers = { accept: "text/event-stream", "last-event-id": String(seqs.length) };
      const answer = await service.fetch(`/v1/runs/${run}/events`, { headers });
      for await (const { id, event, data } of readSse(answer.body)) {
        seqs.push(Number(id));
        if (event === "run.finished" || data.includes('"stream_interrupted"')) return seqs;
        if (event === "run.failed") throw new Error(`the run ${run}: ${data} failed`);
      }
    } catch (thrown) {
      if (thrown instanceof Error && thrown.message.endsWith("failed") && thrown.message.startsWith("the run"))
        throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
