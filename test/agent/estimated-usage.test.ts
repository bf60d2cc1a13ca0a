import { expect } from "chai";
import { completeUsage } from "../../src/agent/model/estimate.ts";
import type { Usage } from "../../src/core/model/usage.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { openHost } from "../../src/host/open.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { testFolder } from "../host/folder.ts";
import { run } from "./harness.ts";

describe("usage that a provider did not report", () => {
  const folder = testFolder();
  const cases: [string, Usage | undefined, Usage["source"]][] = [
    ["nothing is estimated", undefined, "estimated"],
    ["an empty report is estimated", {}, "estimated"],
    ["figures of the cache alone are estimated", { cacheReadTokens: 3 }, "estimated"],
    ["input alone is partial", { inputTokens: 7 }, "partial"],
    ["output alone is partial", { outputTokens: 7 }, "partial"],
    ["both are as reported", { inputTokens: 7, outputTokens: 0 }, undefined],
  ];
  for (const [fact, reported, source] of cases) {
    it(`is never called reported: ${fact}`, async () => {
      const generation = ["Hello there.", ...(reported === undefined ? [] : [say.usage(reported)])];
      const bench = await run({ model: new ScriptedModel([generation]) });
      for (const { usage } of [
        bench.of("generation.finished")[0],
        bench.of("round.finished")[0],
        bench.terminal,
      ].flatMap((event) => event ?? [])) {
        expect(usage.source).to.equal(source);
        expect(usage).to.include(reported ?? {});
        expect(usage.inputTokens).to.be.a("number");
        expect(usage.outputTokens).to.be.a("number");
      }
    });
  }

  it("is labelled with the weakest source of its figures", () => {
    expect(completeUsage({ source: "reported" }, [], 8)).to.include({ source: "estimated", outputTokens: 2 });
    expect(completeUsage({ source: "reported", inputTokens: 1 }, [], 8)).to.include({ source: "partial" });
  });

  it("is reported as estimated when a caller counts a request", async () => {
    const configFile = folder.write({
      "venturi.yaml": `version: 1
providers: { demo: { type: simulator, pace: 0 } }
agents: { assistant: { model: demo/small } }
journal: { type: memory }
channels: {}
telemetry: off
`,
    });
    const host = await openHost({ configFile, env: {}, log: silentLog });
    const counted = await host.runs.countInput({ agent: "assistant", input: { text: "x".repeat(400) } });
    await host.close();
    expect(counted.source).to.equal("estimated");
    expect(counted.tokens).to.be.within(100, 200);
  });
});
