import { expect } from "chai";
import { testFolder } from "../folder.ts";
import { Started } from "./started.ts";

const tool = `export default {
  description: "Ends its process",
  parameters: { type: "object", properties: {} },
  effect: "pure",
  call: () => process.kill(process.pid, "SIGKILL"),
};`;
const config = `
dataFolder: ./data
providers:
  demo:
    type: simulator
    pace: 0
    scenarios: [{ name: poison, match: { text: poison }, turns: [{ calls: [{ name: crash, arguments: {} }] }, { text: [done] }] }]
tools: { crash: { type: module, path: ./crash.mjs } }
agents:
  poison: { model: demo/poison, tools: [crash] }
  story: { model: demo/pace-20-200 }
journal: { type: sqlite, path: ./data/venturi.db }
channels: { http: {} }
server: { listen: 0, processes: 2 }
telemetry: { logs: { format: text } }
`;

describe("a run that ends every process that continues it", function () {
  this.timeout(120_000);
  const folder = testFolder();
  let service: Started;
  after(async () => {
    service.child.kill("SIGTERM");
    service.child.kill("SIGTERM");
    await service.ended;
  });
  const ended = async (run: string) => {
    for (;;) {
      const answer = await service.fetch(`/v1/runs/${run}`).catch(() => undefined);
      const row = (await answer?.json().catch(() => undefined)) as
        | { status: string; error?: { code: string } }
        | undefined;
      if (row?.status === "finished" || row?.status === "failed") return row;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it("fails with worker_crashed after five attempts; runs that were beside it finish", async () => {
    service = await new Started(folder.write({ "venturi.yaml": config, "crash.mjs": tool })).listening();
    const beside = await Promise.all(Array.from({ length: 4 }, () => service.start("story")));
    const poison = await service.start("poison", "poison");
    const { status, error } = await ended(poison);
    expect({ status, code: error?.code }).to.deep.equal({ status: "failed", code: "worker_crashed" });
    for (const run of beside) expect((await ended(run)).status, run).to.equal("finished");
    expect(await service.metric("venturi_process_restarts_total")).to.be.within(5, 7);
  });
});
