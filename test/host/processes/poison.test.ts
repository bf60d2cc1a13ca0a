import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Started } from "./started.ts";

const tool = (call: string) => `export default {
  description: "Poison",
  parameters: { type: "object", properties: {} },
  effect: "pure",
  ${call},
};`;
/** What takes a process down, each in another way. */
const poisons = {
  kill: tool(`call: () => process.kill(process.pid, "SIGKILL")`),
  abort: tool(`call: () => process.abort()`),
  loop: tool(`call: function turnsForEver() { for (;;); }`),
  later: tool(`call: async () => { await new Promise((next) => setTimeout(next, 50)); for (;;); }`),
  expression: tool(`call: () => /^(a+)+$/.test("a".repeat(60) + "!")`),
};
const names = Object.keys(poisons);
const config = (processes: number) => `
dataFolder: ./data
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
${names.map((name) => `      - { name: ${name}, match: { text: ${name} }, turns: [{ calls: [{ name: ${name}, arguments: {} }] }, { text: [done] }] }`).join("\n")}
tools: { ${names.map((name) => `${name}: { type: module, path: ./${name}.mjs }`).join(", ")} }
agents:
${names.map((name) => `  ${name}: { model: demo/${name}, tools: [${name}] }`).join("\n")}
  story: { model: demo/pace-20-200 }
journal: { type: sqlite, path: ./data/venturi.db }
channels: { http: {} }
server: { listen: 0, processes: ${processes}, wedged: 2s }
telemetry: { logs: { format: text } }
`;

for (const processes of [1, 2]) {
  describe(`a run that takes every process down that continues it, with ${processes} of them`, function () {
    this.timeout(180_000);
    const folder = mkdtempSync(join(tmpdir(), "venturi-"));
    let service: Started;
    before(async () => {
      for (const [name, text] of Object.entries(poisons)) writeFileSync(join(folder, `${name}.mjs`), text);
      writeFileSync(join(folder, "venturi.yaml"), config(processes));
      service = await new Started(join(folder, "venturi.yaml")).listening();
    });
    after(async () => {
      service.child.kill("SIGTERM");
      service.child.kill("SIGTERM");
      await service.ended;
      rmSync(folder, { recursive: true, force: true });
    });
    const ended = async (run: string) => {
      for (;;) {
        const answer = await service.fetch(`/v1/runs/${run}`).catch(() => undefined);
        const row = (await answer?.json().catch(() => undefined)) as
          | { status: string; error?: { code: string; err: string } }
          | undefined;
        if (row?.status === "finished" || row?.status === "failed") return row;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    /** The process may be gone before it can answer. */
    const poisoned = async (name: string): Promise<string> => {
      await service.start(name, name).catch(() => {});
      for (;;) {
        const answer = await service.fetch(`/v1/runs?agent=${name}`).catch(() => undefined);
        const list = (await answer?.json().catch(() => undefined)) as { runs: { run: string }[] } | undefined;
        if (list?.runs[0] !== undefined) return list.runs[0].run;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    for (const name of names) {
      it(`${name}: it ends as worker_crashed with the second process; runs beside it finish at once`, async () => {
        const restarts = () => service.said.split("another one is started").length - 1;
        const before = restarts();
        const beside = await Promise.all(Array.from({ length: 4 }, () => service.start("story")));
        const { status, error } = await ended(await poisoned(name));
        expect({ status, code: error?.code }).to.deep.equal({ status: "failed", code: "worker_crashed" });
        expect(error?.err).to.include("the second process that it took down");
        expect(restarts() - before).to.equal(2);
        for (const run of beside) expect((await ended(run)).status, run).to.equal("finished");
        expect(restarts() - before).to.equal(2);
        if (["loop", "later", "expression"].includes(name)) {
          expect(service.said).to.match(new RegExp(`blocked.*stack=.*${name}\\.mjs:\\d+`));
          expect(error?.err).to.match(new RegExp(`blocked its process for \\d+ ms, at ${name}\\.mjs:\\d+`));
        }
      });
    }

    const alive = async (): Promise<number[]> => {
      const children = readFileSync(`/proc/${service.child.pid}/task/${service.child.pid}/children`, "utf8");
      return children.split(" ").filter(Boolean).map(Number);
    };

    it("a process that is stopped as a whole is killed and replaced", async () => {
      expect((await ended(await service.start("story"))).status).to.equal("finished");
      const [first] = await alive();
      if (first === undefined) throw new Error("there is no process");
      process.kill(first, "SIGSTOP");
      await service.until(() => service.said.includes("is silent; it is killed"));
      while ((await alive()).length < processes || (await alive()).includes(first))
        await new Promise((resolve) => setTimeout(resolve, 50));
      const beside = await service.start("story");
      expect((await ended(beside)).status).to.equal("finished");
    });

    it("the service ends with the process that watches it", async () => {
      const pids = await alive();
      expect(pids.length).to.equal(processes);
      service.child.kill("SIGKILL");
      while (pids.some((pid) => existsSync(`/proc/${pid}/fd/0`)))
        await new Promise((resolve) => setTimeout(resolve, 50));
    });
  });
}
