import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { provide } from "../../../src/core/values/token.ts";
import { openHost } from "../../../src/host/open.ts";
import { ScriptedModel, say } from "../../../src/testing/model.ts";
import { testFolder } from "../folder.ts";

const config = `
providers: { demo: { type: simulator, pace: 0 } }
agents: { a: { model: demo/shared-by-two } }
journal: { type: memory }
channels: {}
budgets: { all: { of: run, tokens: 3000, per: run } }
`;

describe("two hosts in one process", () => {
  const folder = testFolder();

  it("set nothing aside for what the other's model of the same name wrote", async () => {
    const file = folder.write({ "venturi.yaml": config });
    const ends: string[] = [];
    const run = async (runs: number, outputTokens: number) => {
      const said = Array.from({ length: runs }, () => ["ok", say.usage({ inputTokens: 10, outputTokens }), say.done()]);
      const model = new ScriptedModel(said);
      const replace = [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })];
      const host = await openHost({ configFile: file, env: {}, log: silentLog, telemetry: noTelemetry, replace });
      for (let index = 0; index < runs; index++) {
        const { run } = await host.runs.start({ agent: "a", input: { text: "hi" } });
        for await (const batch of host.runs.follow(run)) ends.push(batch.at(-1)?.type ?? "");
      }
      await host.close();
    };
    await run(20, 9_000);
    ends.length = 0;
    await run(1, 100);
    expect(ends.at(-1)).to.equal("run.finished");
  });
});
