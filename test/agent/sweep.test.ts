import { expect } from "chai";
import { streamOf } from "../../src/agent/run/capabilities.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, tool } from "./harness.ts";

/** Two rounds, two tools each: one pure and started early, one effectful. */
function bench() {
  let running = 0;
  let stopped = false;
  const work = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    running += 1;
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        // Once the run is to stop, only the signal ends a tool.
        setImmediate(() => stopped || resolve());
      });
      signal.throwIfAborted();
      return "done";
    } finally {
      running -= 1;
    }
  };
  const tools = [tool("look", work), tool("pay", work, { effect: "effectful" })];
  const round = (text: string) => [
    say.reasoning("hm"),
    text,
    ...say.fragments({ name: "look", input: { at: text }, size: 6 }),
    say.call(1, "pay", { amount: text }),
    "…",
  ];
  const model = new ScriptedModel([round("one"), round("two"), ["The ", "end"]]);
  return {
    bench: new Bench({ model, tools, policy: { grace: 1_000 } }),
    model,
    running: () => running,
    stop: () => {
      stopped = true;
    },
  };
}

function check(events: readonly RunEvent[], lost: readonly RunEvent[] = []): void {
  expect(events.filter(isTerminal)).to.have.length(1);
  expect(events.at(-1)).to.satisfy(isTerminal);
  expect(events.map((event) => event.seq)).to.deep.equal(events.map((_, index) => index + 1));
  // What a killed owner had started in a generation that was cut is retracted with it; nobody is left to finish it.
  const kept = lost.some(({ type }) => type === "tool.started") ? events.slice(lost.length) : events;
  const of = (type: string) => kept.flatMap((event) => (event.type === type && "call" in event ? [event.call] : []));
  expect(of("tool.finished").sort()).to.include.members(of("tool.started").sort());
}

describe("at every event of a run with two rounds and two tools", () => {
  let whole = 0;

  before(async () => {
    const { bench: complete, running } = bench();
    await complete.run();
    check(complete.events);
    expect(complete.terminal).to.include({ output: "one…two…The end", finish: "stop" });
    expect(running()).to.equal(0);
    whole = complete.events.length;
  });

  it("a cancel leads to one terminal event, every tool settled, nothing open", async () => {
    let cancelled = 0;
    for (let at = 1; at < whole; at++) {
      const { bench: run, model, running, stop } = bench();
      run.log.onEvent = (event) => {
        if (event.seq !== at) return;
        stop();
        run.signal("cancel", { reason: `at ${at}` });
      };
      await run.run();
      check(run.events);
      expect(run.terminal, `at ${at}`).to.have.nested.property("error.code", "stream_interrupted");
      expect([running(), model.open], `at ${at}`).to.deep.equal([0, 0]);
      cancelled += 1;
    }
    console.log(`      cancelled at each of ${cancelled} events of ${whole}`);
  });

  it("a journal that fails leads to no further event and nothing open", async () => {
    for (let at = 1; at < whole; at++) {
      const { bench: run, model, running, stop } = bench();
      const fenced = new VenturiError("journal.append", "journal_failed", "fenced");
      run.log.onEvent = (event) => {
        if (event.seq !== at) return;
        stop();
        run.log.controller.abort(fenced);
      };
      await run.run();
      expect(run.events, `at ${at}`).to.have.length(at);
      expect([running(), model.open], `at ${at}`).to.deep.equal([0, 0]);
    }
  });

  it("a resumed run ends with the same output, without generating or running anything finished again", async () => {
    for (let at = 1; at < whole; at++) {
      const first = bench();
      first.bench.log.onEvent = (event) =>
        event.seq === at && first.bench.log.controller.abort(new VenturiError("x.y", "journal_failed", "killed"));
      await first.bench.run();
      const history = first.bench.events.slice();
      const finishedRounds = history.filter((event) => event.type === "generation.finished").length;
      const second = bench();
      const script = [second.bench.setup.model].flat()[0] as ScriptedModel;
      for (let skip = 0; skip < finishedRounds; skip++) await drain(script);
      const resumed = new Bench({ ...second.bench.setup, history, policy: { grace: 1_000, onUncertain: "fail" } });
      await resumed.run();
      check(resumed.events, history);
      expect(resumed.terminal, `at ${at}`).to.include({ output: "one…two…The end", finish: "stop" });
      script.assertUsed();
      const finished = new Set(history.flatMap((event) => (event.type === "tool.finished" ? [event.call] : [])));
      const again = resumed.events
        .slice(history.length)
        .flatMap((event) => (event.type === "tool.started" && finished.has(event.call) ? [event.call] : []));
      expect(again, `at ${at}`).to.deep.equal([]);
    }
  });
});

/** Uses up one scripted generation without a run. */
async function drain(model: ScriptedModel): Promise<void> {
  const context = {
    run: "",
    round: 0,
    attempt: 0,
    agent: "",
    signal: new AbortController().signal,
    timeouts: { connect: 1, firstChunk: 1, idle: 1, total: 1 },
  };
  for await (const _ of streamOf(model, { model: "", messages: [], tools: [], options: {} }, context));
}

describe("when the provider fails at any piece of a generation", () => {
  it("there is one terminal event, and every tool is settled", async () => {
    const pieces = ["a", ...say.fragments({ name: "look", input: { at: 1 }, size: 3 }), say.call(1, "pay", {}), "b"];
    for (let at = 0; at <= pieces.length; at++) {
      const script = [...pieces.slice(0, at), say.fail("llm_error")];
      const tools = [tool("look", () => "x"), tool("pay", () => "y", { effect: "effectful" })];
      const run = new Bench({ model: new ScriptedModel([script]), tools });
      await run.run();
      check(run.events);
      expect(run.terminal).to.have.nested.property("error.code", "llm_error");
      expect(run.of("tool.started").map((event) => event.name)).not.to.include("pay");
    }
  });

  it("a stream that ends without its own end is stream_error, never a success", async () => {
    const model = {
      capabilities: new ScriptedModel([]).capabilities,
      stream: async function* () {
        yield [{ type: "text" as const, text: "half" }];
      },
    };
    const run = new Bench({ model });
    await run.run();
    expect(run.terminal).to.have.nested.property("error.code", "stream_error");
    expect(run.terminal.output).to.equal("half");
  });
});
