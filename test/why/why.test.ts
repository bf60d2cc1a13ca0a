import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { sourceOf } from "../../src/serve/why/source.ts";
import { explainRun, type Why } from "../../src/serve/why/why.ts";
import { type Planted, planted } from "./planted.ts";
import { configOf, modules } from "./planted-config.ts";

async function play(host: Host, problem: Planted): Promise<string> {
  const request = { agent: "subject0", input: { text: "go" } };
  for (let n = 0; n < (problem.before ?? 0); n++) {
    const { run } = await host.runs.start(request);
    for await (const _batch of host.runs.follow(run));
  }
  const session = problem.act === "queue" ? { session: "s" } : {};
  const first = problem.act === "queue" ? await occupied(host) : undefined;
  const { run } = await host.runs.start({ ...request, ...session });
  if (first !== undefined) setTimeout(() => void host.runs.cancel(first), 700);
  for await (const batch of host.runs.follow(run)) {
    for (const event of batch) {
      if (event.type === "approval.requested") answerLater(host, problem, { run, call: event.call });
      if (event.type === "text.delta" && problem.act === "cancel") void host.runs.cancel(run, "enough");
    }
  }
  return run;
}

async function occupied(host: Host): Promise<string> {
  const { run } = await host.runs.start({ agent: "helper", input: { text: "go" }, session: "s" });
  return run;
}

function answerLater(host: Host, { act }: Planted, { run, call }: { run: string; call: string }): void {
  const say = (approved: boolean, reason?: string) =>
    void host.runs.signal(run, "approve", { call, approved, by: "ann", ...(reason === undefined ? {} : { reason }) });
  if (act === "approve") setTimeout(say, 700, true);
  if (act === "deny") say(false, "too much");
}

describe("why", function () {
  this.timeout(180_000);
  // Causes are found by shares of real time, which a busy machine shifts.
  this.retries(6);
  const folder = mkdtempSync(join(tmpdir(), "venturi-why-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const explain = async (problem: Planted): Promise<Why> => {
    const configFile = join(folder, `${planted.indexOf(problem)}.yaml`);
    writeFileSync(
      configFile,
      stringify({ ...configOf([problem]), journal: { type: "memory" }, channels: {}, telemetry: "off" }),
    );
    const host = await openHost({ configFile, log: silentLog, telemetry: noTelemetry });
    try {
      const run = await play(host, problem);
      return await explainRun(sourceOf(host.runs), run);
    } finally {
      await host.close();
    }
  };

  // The runs mostly wait, so several go on at a time; one that is tried again runs alone.
  const explained = new Map<Planted, Why>();
  before(async () => {
    writeFileSync(join(folder, "tools.mjs"), modules);
    const waiting = [...planted];
    const worker = async () => {
      for (let problem = waiting.shift(); problem !== undefined; problem = waiting.shift())
        explained.set(problem, await explain(problem));
    };
    await Promise.all(Array.from({ length: 6 }, worker));
  });

  for (const problem of planted) {
    it(`names ${problem.name}: ${problem.cause}`, async () => {
      const why = explained.get(problem) ?? (await explain(problem));
      explained.delete(problem);
      expect(why.cause, why.summary).to.equal(problem.cause);
      for (const pattern of problem.says) expect(why.summary).to.match(pattern);
      const sum = why.parts.reduce((total, { ms }) => total + ms, 0);
      expect(Math.abs(sum - why.ms)).to.be.at.most(why.parts.length);
    });
  }
});
