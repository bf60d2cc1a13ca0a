import { expect } from "chai";
import { addUsage, type Usage } from "../../../src/core/model/usage.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import type { Digest } from "../../../src/core/run/digest.ts";
import { isTerminal, type RunEvent, type TerminalEvent } from "../../../src/core/run/events.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { compareRuns } from "../../../src/host/recordings/compare.ts";
import { createTelemetry, defaultSettings } from "../../../src/telemetry/index.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { testFolder } from "../folder.ts";

const config = (journal: string) => `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { calculator: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [calculator], limits: { tokens: 5000 } } }
prices: { demo/small: { input: 3, output: 15 } }
journal: ${journal}
channels: {}
`;

/** What the wire reports: each generation another amount, so that no sum fits by chance. */
const usages: readonly Usage[] = [
  { inputTokens: 1000, outputTokens: 10 },
  { inputTokens: 1100, outputTokens: 20 },
  { inputTokens: 1300, outputTokens: 40 },
  { inputTokens: 1700, outputTokens: 80 },
];
const scriptOf = (reported: readonly Usage[]): Generation[] =>
  reported.map((usage, index) =>
    index === 0
      ? [say.call(0, "calculator", { expression: "6*7" }), say.usage(usage), say.done("tool_calls")]
      : [`Answer ${index}.`, say.usage(usage), say.done()],
  );
const costOf = (usage: Usage) => ((usage.inputTokens ?? 0) * 3 + (usage.outputTokens ?? 0) * 15) / 1e6;

for (const journal of ["{ type: memory }", "{ type: sqlite, path: fork.db }"]) {
  describe(`the spend of a fork, ${journal}`, () => {
    const folder = testFolder();
    let host: Host;
    afterEach(() => host.close());
    const open = async (reported = usages) => {
      const model = new ScriptedModel(scriptOf(reported));
      host = await openHost({
        configFile: folder.write({ "venturi.yaml": config(journal) }),
        env: {},
        log: silentLog,
        telemetry: await createTelemetry(defaultSettings, { log: silentLog }),
        replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model })],
      });
      return model;
    };
    async function read(run: string): Promise<RunEvent[]> {
      const events: RunEvent[] = [];
      for await (const batch of host.runs.follow(run)) events.push(...batch);
      return events;
    }
    const endOf = (events: readonly RunEvent[]): TerminalEvent => {
      const last = events.at(-1);
      if (last === undefined || !isTerminal(last)) throw new Error("it has not ended");
      return last;
    };
    const digestOf = async (run: string): Promise<Digest> => {
      const { digest } = await host.runs.get(run);
      if (digest === undefined) throw new Error("no digest");
      return digest;
    };
    const roundEnd = (events: readonly RunEvent[]) => events.find(({ type }) => type === "round.finished")?.seq ?? 0;

    it("is its own: what it took over is told apart, and each generation is in exactly one sum", async () => {
      const model = await open();
      const { run } = await host.runs.start({ agent: "assistant", input: { text: "What is 6*7?" } });
      const events = await read(run);
      const after = roundEnd(events);
      const { run: fork } = await host.runs.fork(run, { after });
      const forked = await read(fork);
      const { run: second } = await host.runs.fork(fork, { after });
      const again = await read(second);
      expect(model.requests).to.have.length(4);

      const [first, tail, own, ownAgain] = usages as [Usage, Usage, Usage, Usage];
      expect(endOf(events)).to.deep.include({ usage: addUsage(first, tail) });
      expect(endOf(events)).not.to.have.property("inherited");
      for (const [one, usage] of [
        [forked, own],
        [again, ownAgain],
      ] as const) {
        expect(endOf(one)).to.deep.include({
          usage,
          cost: costOf(usage),
          inherited: {
            usage: first,
            cost: costOf(first),
            spent: [{ by: "generation", name: "demo/small", count: 1, usage: first, cost: costOf(first) }],
          },
        });
        expect(endOf(one)).not.to.have.property("spent");
      }

      // Lists, digests and the figures of the service: the sum over runs is the sum over the wire.
      const digests = await Promise.all([run, fork, second].map(digestOf));
      const wire = usages.reduce(addUsage);
      expect(digests.map(({ usage }) => usage).reduce(addUsage)).to.deep.equal(wire);
      expect(digests.reduce((sum, { cost = 0 }) => sum + cost, 0)).to.be.closeTo(costOf(wire), 1e-12);
      expect(digests[1]?.inherited).to.deep.equal({ usage: first, cost: costOf(first) });
      expect(digests[0]).not.to.have.property("inherited");
      const { runs: costliest } = await host.runs.list({ sort: "costliest", limit: 3 });
      expect(costliest.map((row) => row.run)).to.deep.equal([run, second, fork]);

      // Metrics and comparisons.
      const metrics = await host.telemetry.metrics();
      const counted = (type: string) =>
        Number(new RegExp(`^gen_ai_client_token_usage_sum\\{.*"${type}".*\\} (\\d+)$`, "m").exec(metrics)?.[1]);
      expect([counted("input"), counted("output")]).to.deep.equal([wire.inputTokens, wire.outputTokens]);
      const compared = compareRuns(events, forked);
      expect([compared.a.usage, compared.a.inherited]).to.deep.equal([addUsage(first, tail), undefined]);
      expect([compared.b.usage, compared.b.inherited]).to.deep.equal([own, first]);
      expect([compared.a.cost, compared.b.cost]).to.deep.equal([costOf(addUsage(first, tail)), costOf(own)]);
      const unknown = events.map(({ cost: _, ...event }: RunEvent & { cost?: number }) => event as RunEvent);
      expect(compareRuns(unknown, forked).a).not.to.have.any.keys("cost", "totalCost");
    });

    it("does not use up the fork's tokens", async () => {
      await open([
        { inputTokens: 1600, outputTokens: 10 },
        { inputTokens: 700, outputTokens: 10 },
      ]);
      const { run } = await host.runs.start({ agent: "assistant", input: { text: "go" }, limits: { tokens: 1500 } });
      const events = await read(run);
      expect(endOf(events)).to.include({ finish: "max_tokens" });
      const after = events.find(({ type }) => type === "generation.finished")?.seq ?? 0;
      const { run: fork } = await host.runs.fork(run, { after });
      expect(endOf(await read(fork))).to.include({ finish: "stop", output: "Answer 1." });
    });
  });
}
