import { expect } from "chai";
import { parse } from "yaml";
import type { DecodedWire, Sample, ServiceView } from "../../../src/core/ports/inspect.ts";
import { noTiming } from "../../../src/core/run/timing.ts";
import { Figures } from "../../../src/host/inspect/figures.ts";
import { Series } from "../../../src/host/inspect/series.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";
import { Bench, engines } from "./bench.ts";

for (const engine of Object.keys(engines)) {
  describe(`the service about itself, on ${engine}`, function () {
    this.timeout(180_000);
    const bench = new Bench(engine);
    before(() => bench.open());
    after(() => bench.close());

    it("tells its version, journal, breakers, models, tools, channels and plugins to keys that may inspect", async () => {
      const { status, body } = await bench.ask<ServiceView>("ada", "/v1/service");
      expect(status).to.equal(200);
      expect(body).to.include({ ready: true, process: process.pid });
      expect(body.journal).to.include({ type: engine, digests: true });
      expect(body.journal.pingMs).to.be.a("number");
      expect(body.providers[0]).to.deep.equal({ name: "demo", type: "simulator", breaker: "closed", leftMs: 0 });
      expect(body.tools.find(({ name }) => name === "sum")).to.include({ effect: "pure", approval: "always" });
      expect(body.channels.map(({ name }) => name)).to.deep.equal(["http", "websocket"]);
      expect(body.plugins).to.include("calculator").and.include(engine);
      expect(body.revision.hash).to.equal(bench.service?.host.config.hash);
      expect(body).not.to.have.property("config");
    });

    it("tells its processes, and its replicas as far as the journal knows them", async () => {
      const { body } = await bench.ask<ServiceView>("ada", "/v1/service");
      const [own, ...others] = body.processes;
      expect(others).to.have.length(0);
      expect(own).to.include({ number: 1, pid: process.pid, restarts: 0 }).and.have.property("runs");
      expect(body.replicas.known).to.equal(true);
      const worker = body.replicas.workers.find((each) => each.own);
      expect(worker).to.include({ pid: process.pid, alive: true });
      expect(body.replicas.workers.filter((each) => each.own)).to.have.length(1);
    });

    it("masks keys in kept streams, byte for byte: those of the configuration and whatever looks like one", async () => {
      const run = await bench.run("ada", "leak");
      const headers = { authorization: "Bearer ada-key" };
      const raw = await fetch(`${bench.url}/v1/runs/${run}/wires/1/1`, { headers });
      const bytes = Buffer.from(await raw.arrayBuffer());
      const { body } = await bench.ask<DecodedWire>("ada", `/v1/runs/${run}/wires/1/1?decoded`);
      const deltas = body.chunks.flatMap((chunk) => chunk.deltas as { type: string; text?: string }[]);
      const said = deltas.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("");
      for (const shown of [bytes.toString(), JSON.stringify(body)]) {
        for (const secret of ["abcdefghijklmnop", "config-secret-0123456789", "sk-live-0123456789"]) {
          expect(shown, secret).not.to.include(secret);
        }
      }
      const [kept] = (await bench.service?.host.journal.wire?.(run)) ?? [];
      expect(bytes.length).to.equal(kept?.bytes.length).and.equal(body.size);
      expect(said).to.match(/^your key is Bearer \*{16} and \*{24} \*{28} end$/);
    });

    it("GET /v1/runs/R/fixture is a scenario that plays the run's model again", async () => {
      const run = await bench.run("ada", "What is 17 * 23?");
      const response = await fetch(`${bench.url}/v1/runs/${run}/fixture`, {
        headers: { authorization: "Bearer ada-key" },
      });
      expect(response.status).to.equal(200);
      expect(response.headers.get("content-type")).to.include("application/yaml");
      expect(response.headers.get("content-disposition")).to.equal(`attachment; filename="${run}.yaml"`);
      const scenario = parse(await response.text()) as { turns: { calls?: { name: string }[]; text?: string[] }[] };
      expect(scenario.turns[0]?.calls?.[0]?.name).to.equal("calculator");
      expect(scenario.turns[1]?.text?.join("")).to.include("391");
      for (const [key, status] of [
        ["bob", 404],
        ["narrow", 404],
        ["blind", 403],
        ["nobody", 401],
      ] as const) {
        expect((await bench.ask(key, `/v1/runs/${run}/fixture`)).status, key).to.equal(status);
      }
    });

    it("shows the configuration, with secrets masked, to keys that may see the whole service", async () => {
      const { body } = await bench.ask<ServiceView>("operator", "/v1/service");
      expect(body.config).to.include("agents:").and.include("venturi.yaml");
      for (const key of ["ada", "bob", "operator"]) expect(body.config).not.to.include(`${key}-key`);
      if (engine === "postgres") expect(body.config).not.to.match(/postgres:\/\/\w+:[^*]+@/);
    });

    it("is refused to keys without the scope inspect", async () => {
      for (const path of ["/v1/service", "/v1/service/series"]) {
        expect((await bench.ask("plain", path)).status, path).to.equal(403);
      }
      const { body } = await bench.ask<{ every: number; samples: Sample[] }>("ada", "/v1/service/series?after=0");
      expect(body.every).to.equal(5_000);
      expect(body.samples).to.be.an("array");
    });

    it("gives a run's kept bytes, and the deltas they decode to", async () => {
      const run = await bench.run("ada", "What is 17 * 23?");
      const list = await bench.ask<{ wires: { round: number; attempt: number; size: number }[] }>(
        "ada",
        `/v1/runs/${run}/wires`,
      );
      expect(list.body.wires.map(({ round, attempt }) => [round, attempt])).to.deep.equal([
        [1, 1],
        [2, 1],
      ]);
      const headers = { authorization: "Bearer ada-key" };
      const raw = await fetch(`${bench.url}/v1/runs/${run}/wires/2/1`, { headers });
      const bytes = Buffer.from(await raw.arrayBuffer());
      expect(bytes.length).to.equal(list.body.wires[1]?.size);
      expect(raw.headers.get("content-disposition")).to.equal("attachment");
      const { body } = await bench.ask<DecodedWire>("ada", `/v1/runs/${run}/wires/2/1?decoded`);
      expect(body.chunks.map(({ text }) => text).join("")).to.equal(bytes.toString());
      const deltas = body.chunks.flatMap((chunk) => chunk.deltas as { type: string; text?: string }[]);
      const said = deltas.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("");
      expect(said).to.include("391");
      expect(deltas.at(-1)?.type).to.equal("done");
      expect((await bench.ask("ada", `/v1/runs/${run}/wires/9/1`)).status).to.equal(404);
      for (const [key, status] of [
        ["plain", 403],
        ["bob", 404],
        ["narrow", 404],
      ] as const) {
        for (const path of ["wires", "wires/1/1"]) {
          expect((await bench.ask(key, `/v1/runs/${run}/${path}`)).status, `${key} ${path}`).to.equal(status);
        }
      }
    });
  });
}

describe("the time series", () => {
  const digest = {
    run: "r",
    agent: "a",
    status: "finished" as const,
    startedAt: 0,
    endedAt: 0,
    usage: { inputTokens: 10, outputTokens: 4 },
    rounds: 2,
    calls: 0,
    tools: [],
    models: ["m"],
    input: "",
    output: "",
  };

  it("has a sample every five seconds, of what happened since the one before, for an hour", async () => {
    const clock = new VirtualClock();
    const commits = { count: 0, ms: 0, longestMs: 0 };
    const figures = new Figures(commits);
    const series = new Series({ clock, figures, active: () => 3, followers: () => 2, blockedMs: () => 0 });
    series.start();
    for (const ms of [100, 200, 300, 4_000]) {
      figures.ended({ ...digest, ms, timing: { ...noTiming, providerWait: 80 } });
    }
    figures.ended({ ...digest, status: "failed", models: ["m", "n"], ms: 50, timing: { ...noTiming, retryWait: 9 } });
    Object.assign(commits, { count: 4, ms: 10, longestMs: 7 });
    await clock.advance(5_000);
    await clock.advance(5_000);
    const [first, second] = series.after(0);
    expect(first).to.include({ ended: 5, failed: 1, p50: 200, p95: 4_000, firstToken: 32, retried: 1, failedOver: 1 });
    expect(first).to.include({ inputTokens: 50, outputTokens: 20, commits: 4, commitMs: 2.5, longestCommitMs: 7 });
    expect(second).to.include({ ended: 0, commits: 0, active: 3, followers: 2 });
    expect(second).not.to.have.property("p50");
    for (let count = 0; count < 800; count++) await clock.advance(5_000);
    expect(series.after(0)).to.have.length(720);
    expect(series.after(clock.now() - 5_000)).to.have.length(1);
    series.stop();
    await clock.advance(60_000);
    expect(series.after(clock.now() - 30_000)).to.have.length(0);
  });
});
