import { expect } from "chai";
import type { PruneOptions } from "../../src/core/journal/journal.ts";
import { pruneInSteps } from "../../src/core/journal/prune-steps.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { PluginLoader } from "../../src/host/plugins/plugin-loader.ts";
import { startRetention } from "../../src/host/runs/retention.ts";
import { framesOf } from "../../src/provider/frames/framing.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { testFolder } from "./folder.ts";

const config = `
providers: { demo: { type: simulator, pace: 0 } }
tools: { clock: { type: clock } }
agents: { assistant: { model: demo/small, tools: [clock] } }
journal: { type: memory, keepWire: true }
channels: { http: {} }
telemetry: { logs: { level: silent } }
`;

describe("a host from a config file", () => {
  const folder = testFolder();
  let host: Host;
  beforeEach(async () => {
    host = await openHost({ configFile: folder.write({ "venturi.yaml": config }), log: silentLog });
  });
  afterEach(() => host.close());

  const answerTo = async (text: string): Promise<{ run: string; events: RunEvent[] }> => {
    const { run } = await host.runs.start({ agent: "assistant", input: { text } });
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) events.push(...batch);
    return { run, events };
  };

  it("runs an agent from the first event to its one terminal event, measured and with its config's hash", async () => {
    const { events } = await answerTo("say hello");
    expect(events[0]).to.deep.include({ type: "run.started", agent: "assistant", config: host.config.hash });
    expect(events.filter(isTerminal)).to.have.lengthOf(1);
    expect(events.at(-1)).to.deep.include({ type: "run.finished", finish: "stop" });
    expect(await host.telemetry.metrics()).to.match(/^gen_ai_/m);
  });

  it("keeps the raw bytes of the provider when the journal is asked to, under the wire that decodes them", async () => {
    const { run, events } = await answerTo("say hello");
    const [kept] = (await host.journal.wire?.(run)) ?? [];
    expect(kept).to.include({ round: 1, wire: "openai-chat" });
    const { plugin } = await new PluginLoader().get("openai");
    const wire = plugin.wires?.[kept?.wire ?? ""];
    if (kept === undefined || wire === undefined) return expect.fail("nothing was kept");
    const frames: Parameters<ReturnType<typeof wire.decoder>["push"]>[0][] = [];
    const framing = framesOf(wire.framing);
    framing.push(kept.bytes, frames);
    framing.end(frames);
    const decoder = wire.decoder();
    const deltas: Parameters<typeof decoder.push>[1] = [];
    for (const frame of frames) decoder.push(frame, deltas);
    decoder.end(deltas);
    const text = deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
    const shown = events.map((event) => (event.type === "text.delta" && event.round === 1 ? event.text : "")).join("");
    expect(text).to.equal(shown).and.not.equal("");
  });

  it("keeps them, where the config says so, only of runs that ask for it in their metadata", async () => {
    const asked = config.replace("keepWire: true", "keepWire: asked");
    const other = await openHost({ configFile: folder.write({ "asked.yaml": asked }), log: silentLog });
    try {
      const kept = async (metadata?: Record<string, unknown>): Promise<number> => {
        const request = { agent: "assistant", input: { text: "say hello" }, ...(metadata && { metadata }) };
        const { run } = await other.runs.start(request);
        for await (const _ of other.runs.follow(run)); // until it has ended
        return (await other.runs.wires(run)).length;
      };
      expect(await kept()).to.equal(0);
      expect(await kept({ keepWire: "yes" })).to.equal(0);
      expect(await kept({ keepWire: true })).to.equal(1);
    } finally {
      await other.close();
    }
  });

  it("a run under way keeps its revision over a reload", async () => {
    const before = host.revision();
    const { run } = await host.runs.start({ agent: "assistant", input: { text: "tell me a long story" } });
    folder.write({ "venturi.yaml": config.replace("tools: [clock]", "tools: [clock], instructions: new") });
    const feed = host.runs.follow(run)[Symbol.asyncIterator]();
    await feed.next();
    expect((await host.reload()).ok).to.equal(true);
    expect(host.revision()).not.to.equal(before);
    let last: RunEvent | undefined;
    for (let step = await feed.next(); !step.done; step = await feed.next()) last = step.value.at(-1);
    expect(last?.type).to.equal("run.finished");
    await before.retire();
    expect(before.held).to.equal(0);
  });
});

describe("retention", () => {
  it("prunes by age and number periodically, continues after a failure, and can be stopped", async () => {
    const clock = new VirtualClock();
    const asked: unknown[] = [];
    const journal = {
      prune: async ({ signal: _, ...limits }: PruneOptions) => {
        asked.push(limits);
        if (asked.length === 1) throw new Error("busy");
        return 1;
      },
    };
    const parts = { journal: journal as never, clock, log: silentLog };
    const stop = startRetention({ ...parts, retention: { age: 1000, count: 5 } });
    await clock.advance(1_000);
    await clock.advance(600_000);
    await stop();
    await clock.advance(6_000_000);
    expect(asked).to.deep.equal([
      { olderThan: 1000, keep: 5, rest: 3 },
      { olderThan: 1000, keep: 5, rest: 3 },
    ]);
    expect(clock.pending).to.equal(0);
  });

  it("is stopped between two steps of a prune", async () => {
    const clock = new VirtualClock();
    let steps = 0;
    const step = async () => {
      steps += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      return 1;
    };
    const journal = { prune: (options: PruneOptions) => pruneInSteps(options, step) };
    const stop = startRetention({ journal: journal as never, clock, log: silentLog, retention: { count: 5 } });
    await clock.advance(1_000);
    await stop();
    const done = steps;
    expect(done).to.be.at.least(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(steps).to.equal(done);
  });

  it("rests after each step for as many times as long as it took", async () => {
    const steps: { readonly start: number; readonly end: number }[] = [];
    await pruneInSteps({ rest: 3 }, async () => {
      const start = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      steps.push({ start, end: performance.now() });
      return steps.length < 3 ? 5 : 0;
    });
    expect(steps).to.have.length(3);
    for (const [index, { start, end }] of steps.slice(0, -1).entries()) {
      const rested = (steps[index + 1]?.start ?? 0) - end;
      expect(rested).to.be.at.least(2.5 * (end - start)); // timers round to milliseconds and may fire early
    }
  });

  it("keeps everything when the config says nothing", async () => {
    const clock = new VirtualClock();
    await startRetention({ journal: {} as never, retention: undefined, clock, log: silentLog })();
    expect(clock.pending).to.equal(0);
  });
});
