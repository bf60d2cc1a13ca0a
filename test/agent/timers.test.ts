import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import { isTerminal } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, type Setup, tool } from "./harness.ts";

type Act = (bench: Bench, clock: VirtualClock) => Promise<void>;

const never = () => new Promise<never>(() => {});
const calls = (name: string) => [say.call(0, name, {})];
const hangs = tool("hangs", never, { timeout: 5_000 });
const asks = tool("asks", () => "", { effect: "effectful", approval: "always" });
const nothing: Act = async () => {};
const cancel: Act = async (bench) => bench.signal("cancel", {});
const passes =
  (ms: number): Act =>
  (_, clock) =>
    clock.advance(ms);
const stops: Act = async (bench) =>
  bench.interrupt.abort(new VenturiError("host.stop", "shutting_down", "the service stops"));

const time = { time: 60_000 };
const end = (
  name: string,
  setup: Omit<Setup, "model"> & { script: ConstructorParameters<typeof ScriptedModel>[0] },
) => ({
  name,
  setup,
});

/** What the run is, what is done once it waits, and how it ends. */
const cases: [ReturnType<typeof end>, Act, string][] = [
  [end("an answer", { script: [["ok"]], limits: time }), nothing, "stop"],
  [
    end("a tool's result", { script: [calls("look"), ["ok"]], tools: [tool("look", () => "")], limits: time }),
    nothing,
    "stop",
  ],
  [
    end("the limit on rounds", {
      script: [calls("look")],
      tools: [tool("look", () => "")],
      limits: { ...time, maxToolRounds: 0 },
    }),
    nothing,
    "max_rounds",
  ],
  [end("the limit on time", { script: [["a", say.silence()]], limits: time }), passes(60_000), "max_time"],
  [end("a failing provider", { script: [[say.fail("llm_error")]], limits: time }), nothing, "llm_error"],
  [
    end("a cancel between two tries", {
      script: [[say.fail("unavailable")]],
      chain: { retry: { max: 2 } },
      limits: time,
    }),
    cancel,
    "stream_interrupted",
  ],
  [
    end("a cancel of a silent provider", { script: [["a", say.silence()]], limits: time }),
    cancel,
    "stream_interrupted",
  ],
  [
    end("a tool's timeout and grace", { script: [calls("hangs"), ["ok"]], tools: [hangs], limits: time }),
    passes(5_050),
    "stop",
  ],
  [
    end("a cancel of a tool that ignores it", { script: [calls("hangs")], tools: [hangs], limits: time }),
    async (bench, clock) => {
      bench.signal("cancel", {});
      await clock.advance(50);
    },
    "stream_interrupted",
  ],
  [end("a cancelled question", { script: [calls("asks")], tools: [asks], limits: time }), cancel, "stream_interrupted"],
  [
    end("a question nobody answers", {
      script: [calls("asks"), ["ok"]],
      tools: [asks],
      policy: { approvalTimeout: 9_000 },
    }),
    passes(9_000),
    "stop",
  ],
  [
    end("an answered question", { script: [calls("asks"), ["ok"]], tools: [asks], limits: time }),
    async (bench) => bench.signal("approve", { call: "call-asks-0", approved: true }),
    "stop",
  ],
  [end("a question given back", { script: [calls("asks")], tools: [asks], limits: time }), stops, "none"],
  [end("a service that stops", { script: [["a", say.silence()]], limits: time }), stops, "shutting_down"],
];

describe("no timer and no generation outlives its run, when it ends with", () => {
  for (const [{ name, setup }, act, expected] of cases) {
    it(name, async () => {
      const clock = new VirtualClock();
      const { script, ...rest } = setup;
      const model = new ScriptedModel(script, { clock });
      const bench = new Bench({ ...rest, model, clock });
      const running = bench.run();
      await clock.advance(0);
      await act(bench, clock);
      await running;
      const last = bench.events.filter(isTerminal).at(0);
      const ended = last?.type === "run.finished" ? last.finish : (last?.error.code ?? "none");
      expect([ended, clock.pending, model.open]).to.deep.equal([expected, 0, 0]);
    });
  }
});
