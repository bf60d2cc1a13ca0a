import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { isAsked } from "../../src/core/run/questions.ts";
import { openService } from "../../src/host/service.ts";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

const config = `
providers: { demo: { type: simulator, pace: 0 } }
tools: { sum: { type: calculator, approval: always } }
agents: { asking: { model: demo/small, tools: [sum] } }
journal: { type: memory }
channels: { http: {} }
server: { listen: 0 }
limits: { drain: 100ms }
telemetry: { logs: { level: silent } }
`;

describe("venturi approvals", () => {
  const folder = testFolder();

  it("lists and answers questions beyond the first page", async () => {
    const configFile = folder.write({ "venturi.yaml": config });
    const service = await openService({ configFile, log: silentLog });
    try {
      const { runs } = service.host;
      let last = "";
      for (let count = 0; count < 202; count++) {
        const { run } = await runs.start({ agent: "asking", input: { text: "What is 17 * 23?" } });
        for await (const batch of runs.follow(run)) if (batch.some(isAsked)) break;
        last = run;
      }
      const words = ["--url", service.url, "--config", configFile];
      const listed = await venturi(["approvals", "--json", ...words]);
      expect(listed.out.trim().split("\n").length, listed.err).to.equal(202);
      const denied = await venturi(["approvals", last, "--deny", ...words]);
      expect([denied.exit, denied.err]).to.deep.equal([0, ""]);
    } finally {
      await service.drain();
    }
  });
});
