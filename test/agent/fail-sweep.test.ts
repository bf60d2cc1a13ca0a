import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { Breakers } from "../../src/agent/run/breaker.ts";
import { streamOf } from "../../src/agent/run/capabilities.ts";
import { runAgent } from "../../src/agent/run-agent.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Append, Journal } from "../../src/core/journal/journal.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import type { Hooks } from "../../src/core/ports/hooks.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { Committer } from "../../src/journal/committer.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { agentOf, Bench, type Setup, tool } from "./harness.ts";

/** What is to fail from now on. */
interface Faults {
  tool: boolean;
  hook: boolean;
  provider: boolean;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Two rounds of two tools, one started early and one effectful, with every hook, all of which can be made to fail. */
function scene(setup: Partial<Setup> = {}) {
  const faults: Faults = { tool: false, hook: false, provider: false };
  const clock = new VirtualClock();
  let running = 0;
  const work = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    running += 1;
    try {
      for (let steps = 0; steps < 3; steps++) {
        await turn();
        signal.throwIfAborted();
        if (faults.tool) throw new Error("the tool broke");
      }
      return "done";
    } finally {
      running -= 1;
    }
  };
  const round = (text: string) => [
    say.reasoning("hm"),
    text,
    ...say.fragments({ name: "look", input: { at: text }, size: 6 }),
    say.call(1, "pay", { amount: text }),
    "…",
  ];
  const script = new ScriptedModel([round("one"), round("two"), ["The ", "end"]]);
  const model: Provider = {
    capabilities: script.capabilities,
    async *stream(request, context) {
      for await (const batch of streamOf(script, request, context)) {
        if (faults.provider) throw new VenturiError("provider.stream", "llm_error", "the provider broke");
        yield batch;
      }
      if (faults.provider) throw new VenturiError("provider.stream", "llm_error", "the provider broke");
    },
  };
  const hook = async () => {
    await turn();
    if (faults.hook) throw new Error("the hook broke");
    return undefined;
  };
  const hooks: Hooks = {
    beforeRun: hook,
    afterRun: hook,
    beforeGeneration: hook,
    afterGeneration: hook,
    beforeTool: hook,
    afterTool: hook,
  };
  const tools = [tool("look", work), tool("pay", work, { effect: "effectful" })];
  const agent = { hooks: [hooks] };
  const bench = new Bench({ model, tools, clock, agent, policy: { grace: 1_000 }, limits: { time: 60_000 }, ...setup });
  return { bench, faults, clock, script, running: () => running };
}

function settled(events: readonly RunEvent[]): void {
  const of = (type: RunEvent["type"]) =>
    events.flatMap((event) => (event.type === type && "call" in event ? [event.call] : [])).sort();
  expect(events.filter(isTerminal)).to.have.length(1);
  expect(events.at(-1)).to.satisfy(isTerminal);
  expect(of("tool.finished")).to.deep.equal(of("tool.started"));
}

describe("a failure from every event of a run on", () => {
  const unheard: unknown[] = [];
  const listener = (reason: unknown) => unheard.push(reason);
  let whole = 0;

  before(async () => {
    process.on("unhandledRejection", listener);
    const { bench, clock } = scene();
    await bench.run();
    settled(bench.events);
    expect(bench.terminal).to.include({ finish: "stop", output: "one…two…The end" });
    expect(clock.pending).to.equal(0);
    whole = bench.events.length;
  });

  after(() => {
    process.off("unhandledRejection", listener);
    expect(unheard).to.deep.equal([]);
  });

  const cases = [
    ["tool", "feedback", ["finished"]],
    ["tool", "abort", ["finished", "tool_failed"]],
    ["hook", "feedback", ["plugin_failed"]],
    ["provider", "feedback", ["finished", "llm_error"]],
  ] as const;
  for (const [what, onError, expected] of cases) {
    it(`of the ${what} under onError ${onError}: one terminal event, every tool settled, no timer, nothing open`, async () => {
      const ends = new Map<string, number>();
      for (let at = 1; at < whole; at++) {
        const { bench, faults, clock, script, running } = scene({ policy: { grace: 1_000, onError } });
        bench.log.onEvent = (event) => {
          if (event.seq === at) faults[what] = true;
        };
        await bench.run();
        settled(bench.events);
        expect([running(), script.open, clock.pending], `at ${at}`).to.deep.equal([0, 0, 0]);
        const end = bench.terminal.type === "run.finished" ? "finished" : bench.terminal.error.code;
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
      expect([...ends.keys()].sort()).to.deep.equal([...expected].sort());
      const counts = [...ends].map(([end, count]) => `${end} ${count}`).join(", ");
      console.log(`      ${what} failed from each of ${whole - 1} events on: ${counts}`);
    });
  }

  for (const stop of ["cancel", "release", "interrupt"] as const) {
    it(`and a ${stop} at every event, with hooks: no timer and nothing open`, async () => {
      for (let at = 1; at < whole; at++) {
        const { bench, clock, script, running } = scene();
        bench.log.onEvent = (event) => {
          if (event.seq !== at) return;
          if (stop === "cancel") bench.signal("cancel", { reason: "enough" });
          else bench[stop].abort(new VenturiError("host.stop", "shutting_down", "stopping"));
        };
        await bench.run();
        if (stop === "release") expect(bench.events.filter(isTerminal), `at ${at}`).to.have.length(0);
        else settled(bench.events);
        expect([running(), script.open, clock.pending], `at ${at}`).to.deep.equal([0, 0, 0]);
      }
      console.log(`      ${stop} at each of ${whole - 1} events`);
    });
  }

  it("of the journal's append: what was committed stands, nothing follows, no timer, nothing open", async () => {
    let without = 0;
    for (let at = 1; at <= whole; at++) {
      const { bench, clock, script, running } = scene();
      const { committed, rejected } = await overJournal(bench.setup, clock, at);
      expect(committed.length, `at ${at}`).to.be.lessThan(at);
      expect(committed.filter(isTerminal), `at ${at}`).to.have.length(0);
      expect(committed.map(({ seq }) => seq)).to.deep.equal(committed.map((_, index) => index + 1));
      expect([running(), script.open, clock.pending], `at ${at}`).to.deep.equal([0, 0, 0]);
      if (!rejected) without += 1;
    }
    console.log(`      the journal refused each of ${whole} events: ${without} let go of, ${whole - without} rejected`);
  });
});

/** A run over the real committer and journal, which refuses every append from event `at` on. */
async function overJournal(setup: Setup, clock: VirtualClock, at: number) {
  const journal = new MemoryJournal({ keep: 10, lease: 10_000, clock });
  const refusing = new Proxy<Journal>(journal, {
    get(target, name) {
      if (name === "append")
        return async (batch: readonly Append[]) => {
          if (batch.some(({ events }) => events.some((event) => event.seq >= at)))
            throw new VenturiError("journal.append", "journal_failed", "the disk is full");
          return target.append(batch);
        };
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const committer = new Committer({ journal: refusing, clock, patience: 0 });
  const request = { agent: "tester", input: { text: "go" } };
  const { claim } = await journal.enqueue({
    run: "run-1",
    tenant: "default",
    session: undefined,
    request,
    claimFor: "w",
  });
  if (claim === undefined) throw new Error("the run was not claimed");
  const log = committer.openLog(claim.ownership);
  const parts = {
    agent: agentOf(setup),
    request,
    runLog: log,
    history: [],
    session: [],
    clock,
    log: silentLog,
    breakers: new Breakers(clock),
  };
  const never = new AbortController().signal;
  let rejected = false;
  await runAgent(parts, { feed: { subscribe: () => () => {} }, release: never, interrupt: never }).catch(() => {
    rejected = true;
  });
  committer.close();
  const committed = await journal.read("run-1", 0, 1_000);
  await journal.close();
  return { committed, rejected };
}
