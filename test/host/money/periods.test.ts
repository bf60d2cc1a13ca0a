import { expect } from "chai";
import { Clock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { SetClock } from "../../plugins/channel-time/world.ts";
import { testFolder } from "../folder.ts";

const old = Date.parse("2026-12-31T23:30:00Z");
const config = (per: string) => `
providers: { demo: { type: simulator, pace: 0 } }
models: { main: { chain: [demo/m], options: { maxTokens: 100 } } }
agents: { a: { model: main } }
journal: { type: memory }
channels: {}
budgets: { all: { of: service, tokens: 1000, per: ${per}, onExceed: refuse } }
`;

for (const per of ["day", "month"]) {
  describe(`a budget per ${per}, while a run begins in one period and ends in the next`, () => {
    const folder = testFolder();
    let clock: SetClock;
    let host: Host;
    let end = () => {};
    beforeEach(async () => {
      clock = new SetClock(old);
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const whole: Generation = ["ok", say.usage({ inputTokens: 900, outputTokens: 50 }), say.done()];
      const model = new ScriptedModel([[{ until: () => ended }, ...whole], ...Array.from({ length: 9 }, () => whole)]);
      host = await openHost({
        configFile: folder.write({ "venturi.yaml": config(per) }),
        env: {},
        log: silentLog,
        telemetry: noTelemetry,
        replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model }), provide(Clock, clock)],
      });
    });
    afterEach(() => host.close());

    const start = async () => (await host.runs.start({ agent: "a", input: { text: "hi" } })).run;
    const endOf = async (run: string) => {
      for await (const batch of host.runs.follow(run)) {
        const last = batch.at(-1);
        if (last?.type === "run.finished") return "finished";
        if (last?.type === "run.failed") return last.error.code;
      }
      return "none";
    };
    const account = (period: string) => JSON.stringify(["all", "", period]);
    const [before, after] = per === "day" ? ["2026-12-31", "2027-01-01"] : ["2026-12", "2027-01"];
    const balance = async (period: string | undefined) => {
      const [found] = (await host.journal.balances?.([account(period ?? "")])) ?? [];
      return [found?.spent.tokens ?? 0, (found?.held.tokens ?? 0) > 0];
    };

    it("counts in the period in which it was set aside, and leaves the next one whole", async () => {
      const first = await start();
      while (!(await balance(before))[1]) await new Promise((next) => setTimeout(next, 5));
      clock.set(old + 3_600_000);
      expect(await endOf(await start())).to.equal("finished");
      expect(await balance(after)).to.deep.equal([950, false]);
      end();
      expect(await endOf(first)).to.equal("finished");
      expect([await balance(before), await balance(after)]).to.deep.equal([
        [950, false],
        [950, false],
      ]);
    });

    it("gives no period twice when the clock is set back by an hour", async () => {
      end();
      expect(await endOf(await start())).to.equal("finished");
      clock.set(old + 3_600_000);
      expect(await endOf(await start())).to.equal("finished");
      clock.set(old);
      expect(await endOf(await start())).to.equal("budget_exceeded");
      clock.set(old + 3_600_000);
      expect(await endOf(await start())).to.equal("budget_exceeded");
      expect([await balance(before), await balance(after)]).to.deep.equal([
        [950, false],
        [950, false],
      ]);
    });
  });
}
