import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { Clock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry } from "../../../src/core/ports/registries.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { anthropicRate, openaiRate } from "../../../src/serve/http-error.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { testFolder } from "../folder.ts";

const folder = testFolder();
let host: Host | undefined;
afterEach(() => host?.close());

async function open(config: string, script: readonly Generation[]) {
  const clock = new VirtualClock();
  const model = new ScriptedModel(script, { clock });
  host = await openHost({
    configFile: folder.write({ "venturi.yaml": config }),
    env: {},
    log: silentLog,
    telemetry: noTelemetry,
    replace: [provide(ProviderRegistry, { names: () => ["demo"], get: () => model }), provide(Clock, clock)],
  });
  return { clock, model };
}

async function run(more: object = {}, options: object = {}): Promise<RunEvent[]> {
  const started = await host?.runs.start({ agent: "a", input: { text: "hi" }, ...more }, options);
  const events: RunEvent[] = [];
  for await (const batch of host?.runs.follow(started?.run ?? "") ?? []) events.push(...batch);
  return events;
}

const base = `
providers: { demo: { type: simulator, pace: 0 } }
agents: { a: { model: main } }
journal: { type: memory }
channels: {}
`;
const usage = { inputTokens: 900, outputTokens: 50 };

describe("a limit of tokens per minute", () => {
  const config = `${base}
models: { main: { chain: [demo/m], options: { maxTokens: 50 } } }
budgets: { users: { of: user, tokens: 1000, per: minute } }
`;

  it("refuses a run with rate_limited and when to come back, tells no budget event, and has room in the next minute", async () => {
    const { clock } = await open(
      config,
      Array.from({ length: 9 }, () => ["ok", say.usage(usage), say.done()]),
    );
    const ada = { metadata: { user: "ada" } };
    expect((await run(ada)).at(-1)?.type).to.equal("run.finished");
    const refused = await run(ada);
    const last = refused.at(-1);
    if (last?.type !== "run.failed") throw new Error("it was not refused");
    expect(last.error.code).to.equal("rate_limited");
    expect(last.error.details).to.include({ limit: "tokensPerMinute", most: 1_000, left: 50, budget: "users" });
    expect(refused.map(({ type }) => type)).not.to.include("budget.exceeded");
    expect((await run({ metadata: { user: "bob" } })).at(-1)?.type).to.equal("run.finished");
    await clock.advance(Number(last.error.details?.retryAfterMs));
    expect((await run(ada)).at(-1)?.type).to.equal("run.finished");
  });

  it("is reported in the vendors' own headers", () => {
    const details = { limit: "tokensPerMinute", most: 1_000, left: 50, retryAfterMs: 12_300 };
    const error = new VenturiError("agent.run", "rate_limited", "no room", { details });
    expect(openaiRate(error)).to.deep.equal({
      "x-ratelimit-limit-tokens": "1000",
      "x-ratelimit-remaining-tokens": "50",
      "x-ratelimit-reset-tokens": "13s",
    });
    expect(anthropicRate(error, Date.parse("2026-11-17T05:00:00Z"))).to.deep.equal({
      "anthropic-ratelimit-tokens-limit": "1000",
      "anthropic-ratelimit-tokens-remaining": "50",
      "anthropic-ratelimit-tokens-reset": "2026-11-17T05:00:13Z",
    });
    expect(openaiRate(new VenturiError("provider.stream", "rate_limited", "the vendor's"))).to.deep.equal({});
  });
});

describe("the response cache", () => {
  const config = `${base}
prices: { demo/m: { input: 100, output: 1000 } }
models: { main: { chain: [demo/m], responses: { ttl: 1h, tenants: [acme, other], replay: rhythm } } }
`;
  const finished = (events: readonly RunEvent[]) => events.find((event) => event.type === "generation.finished");
  const text = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("");
  const answers = (count: number) =>
    Array.from(
      { length: count },
      (_, n): Generation => [`answer ${n}`, say.wait(500), ".", say.usage(usage), say.done()],
    );

  it("repeats the answer to an identical request, at its pace, free, only within its tenant, until it expires", async () => {
    const { clock, model } = await open(config, answers(9));
    const timed = async (more: object, tenant: string) => {
      const running = run(more, { tenant });
      await clock.advance(600);
      return await running;
    };
    expect(finished(await timed({}, "acme"))).to.deep.include({ usage, cost: 0.14 });
    const again = await timed({}, "acme");
    expect(text(again)).to.equal("answer 0.");
    expect(finished(again)).to.deep.include({ cached: true, cost: 0, usage: { inputTokens: 0, outputTokens: 0 } });
    const deltas = again.filter(({ type }) => type === "text.delta");
    expect((deltas[1]?.at ?? 0) - (deltas[0]?.at ?? 0)).to.equal(500);
    expect(model.requests).to.have.length(1);

    expect(text(await timed({}, "other"))).to.equal("answer 1.");
    expect(text(await timed({ input: { text: "something else" } }, "acme"))).to.equal("answer 2.");
    expect(text(await timed({}, "third"))).to.equal("answer 3.");
    expect(text(await timed({}, "third"))).to.equal("answer 4.");
    await clock.advance(3_600_000);
    expect(text(await timed({}, "acme"))).to.equal("answer 5.");
  });

  it("forgets an answer with the run that it is from, and leaves nothing of it in the journal", async () => {
    const { clock } = await open(config, answers(3));
    const timed = async (more: object = {}) => {
      const running = run(more, { tenant: "acme" });
      await clock.advance(600);
      return await running;
    };
    const [first] = await timed();
    const values = host?.journal.keyValues;
    const kept = async () => [
      ...((await values?.list("responses")) ?? []),
      ...((await values?.list("responses-by-run")) ?? []),
    ];
    expect(await kept()).to.have.length(2);
    await host?.runs.remove(first?.run ?? "");
    expect(await kept()).to.deep.equal([]);
    expect(text(await timed())).to.equal("answer 1.");
    await clock.advance(3_600_000);
    await timed({ input: { text: "something else" } });
    expect(await kept(), "those that expired").to.have.length(2);
  });

  it("costs nothing when its reader leaves in the middle", async () => {
    const { clock } = await open(config, answers(2));
    const first = run({}, { tenant: "acme" });
    await clock.advance(600);
    await first;
    const started = await host?.runs.start({ agent: "a", input: { text: "hi" } }, { tenant: "acme" });
    const events: RunEvent[] = [];
    for await (const batch of host?.runs.follow(started?.run ?? "") ?? []) {
      events.push(...batch);
      if (batch.some(({ type }) => type === "text.delta")) void host?.runs.cancel(started?.run ?? "");
    }
    expect(events.at(-1)?.type).to.equal("run.failed");
    expect(text(events)).to.equal("answer 0");
    const [row] = (await host?.runs.usage({ by: [] })) ?? [];
    expect(row).to.include({ generations: 1, failed: 0 });
  });

  it("keeps no answer that failed", async () => {
    const { model } = await open(config, [["half", say.fail("invalid_input")], ["whole"]]);
    expect((await run({}, { tenant: "acme" })).at(-1)?.type).to.equal("run.failed");
    expect(text(await run({}, { tenant: "acme" }))).to.equal("whole");
    expect(model.requests).to.have.length(2);
  });
});
