import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { Journal } from "../../src/core/journal/journal.ts";
import { shadowTenant } from "../../src/core/run/shadow.ts";
import { isSampled } from "../../src/host/shadow/shadows.ts";
import { withRecordings } from "../../src/host/with-recordings.ts";
import { notesOf } from "../../src/journal/notes.ts";
import { Place } from "./place.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const share = 0.5;
const wanted = 60;

/** A service on the place's configuration, and where it listens. */
async function started(place: Place): Promise<{ url: string; child: ChildProcess }> {
  const words = [bin, "start", "--config", place.file("venturi.yaml"), "--set", "telemetry.logs.level=info"];
  const child = spawn(process.execPath, words, { cwd: place.folder, stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    const read = (data: Buffer) => {
      said += String(data);
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", () => reject(new Error(said)));
  });
  return { url, child };
}

const killed = (child: ChildProcess): Promise<unknown> => {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  return gone;
};

describe("shadows of a service that is killed again and again", function () {
  this.timeout(240_000);
  const place = new Place(wanted, (model, amount) => model === "bad" && amount % 3 === 0);
  const told = new Set<string>();
  const receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (data: Buffer) => {
      body += String(data);
    });
    request.on("end", () => {
      for (const [run] of body.matchAll(/run_[0-9a-z]+/g)) told.add(run);
      response.end("ok");
    });
  });
  before(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.address() as AddressInfo;
    const before = place.read("venturi.yaml");
    place.write(
      "venturi.yaml",
      `${before
        .replace("model: demo/good", "model: main")
        .replace("channels: {}", "channels: { http: {} }")
        .replace("pace: 0", "pace: 200")}
models:
  main: { chain: [demo/good], shadow: { model: demo/bad, share: ${share} } }
server: { listen: 127.0.0.1:0 }
webhooks:
  all: { url: "http://127.0.0.1:${port}/", secret: a-secret-for-trying-out, allowPrivate: [127.0.0.1] }
`,
    );
  });
  after(() => {
    receiver.close();
    place.remove();
  });

  it("makes one of each chosen run, of no other, and nobody is told of them", async () => {
    const asked: string[] = [];
    let service = await started(place);
    for (let amount = 0; amount < wanted; amount++) {
      const reply = await fetch(`${service.url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "respond-async" },
        body: JSON.stringify({ agent: "buyer", input: `order ${amount}` }),
      });
      const body = (await reply.json()) as { run: string };
      asked.push(body.run);
      if (amount % 20 === 19) {
        await killed(service.child);
        service = await started(place);
      }
    }
    const options = { file: place.file("venturi.yaml"), env: {} };
    const look = <T>(read: (journal: Journal) => Promise<T>) =>
      withRecordings(options, async ({ journal }) => await read(journal));
    // An effectful call that was under way waits for a person: those runs have no end, and no shadow.
    const ended = async () =>
      await look(async (journal) => (await journal.list({ state: "done", limit: 200 })).runs.map(({ run }) => run));
    const noted = async (runs: readonly string[]) =>
      await look(async (journal) => {
        const found = await Promise.all(
          runs.map(async (run) => {
            const row = await journal.get(run);
            return row === undefined || (await notesOf(journal, row)).shadow === undefined ? [] : [run];
          }),
        );
        return found.flat();
      });
    const sampled = (runs: readonly string[]) => runs.filter((run) => isSampled(run, share));
    let due = 1;
    let open = 1;
    for (let waited = 0; waited < 120 && (due > 0 || open > 0); waited++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const chosen = sampled(await ended());
      due = chosen.length - (await noted(chosen)).length;
      open = await look(
        async (journal) =>
          (await journal.list({ state: "running", limit: 200 })).runs.filter(({ asking }) => asking === 0).length,
      );
    }
    const done = await ended();
    expect(done.length).to.be.greaterThan(wanted / 2);
    const chosen = sampled(done);
    const shadows = await look(async (journal) => (await journal.list({ tenant: shadowTenant, limit: 200 })).runs);
    expect(shadows.map(({ request }) => request.fork?.run).sort()).to.deep.equal([...chosen].sort());
    expect((await noted(done)).sort()).to.deep.equal([...chosen].sort());
    // Deliveries begin when the lease of a process that was killed is over.
    while (told.size < chosen.length) await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { run } of shadows) expect(told.has(run)).to.equal(false);
    const report = await place.venturi("evals");
    expect(report.out).to.match(new RegExp(`^${chosen.length} runs of main on demo/bad\n`));
    await killed(service.child);
    // Each live run ordered at most once, and no shadow ordered anything.
    expect(place.orders).to.be.at.most(wanted);
    expect(asked).to.have.length(wanted);
  });
});
