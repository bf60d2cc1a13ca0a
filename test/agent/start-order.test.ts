import { expect } from "chai";
import { RunState } from "../../src/agent/state/run-state.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, deferred, run, tool } from "./harness.ts";

describe("the order of calls", () => {
  it("is kept when they start: none overtakes one that waits for capacity", async () => {
    const first = deferred();
    const starts: string[] = [];
    const tools = [
      tool("slow", () => first.promise.then(() => "slow")),
      tool("alone", () => "alone", { exclusive: true }),
      tool("quick", () => "quick"),
    ];
    const calls = ["slow", "alone", "quick", "quick"].map((name, index) => say.call(index, name, { index }));
    const bench = new Bench({ model: new ScriptedModel([calls, ["ok"]]), tools, policy: { concurrency: 3 } });
    bench.log.onEvent = (event) => {
      if (event.type === "tool.started") starts.push(event.call);
      // By now everything that could start has been tried.
      if (event.type === "generation.finished") setImmediate(() => first.resolve());
    };
    await bench.run();
    expect(starts).to.deep.equal(["call-slow-0", "call-alone-1", "call-quick-2", "call-quick-3"]);
  });

  it("is kept with a concurrency of one too", async () => {
    const starts: number[] = [];
    const tools = [tool("look", ({ index }) => void starts.push(Number(index)))];
    const calls = Array.from({ length: 8 }, (_, index) => say.call(index, "look", { index }));
    await run({ model: new ScriptedModel([calls, ["ok"]]), tools, policy: { concurrency: 1 } });
    expect(starts).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("is kept in the results for the model, whichever finished first", async () => {
    const model = new ScriptedModel([
      [
        { deltas: [{ type: "tool_call", index: 0, id: "a", name: "look", arguments: '{"at":' }] },
        { deltas: [{ type: "tool_call", index: 1, id: "b", name: "look", arguments: '{"at":2}', sealed: true }] },
        { deltas: [{ type: "tool_call", index: 0, arguments: "1}", sealed: true }] },
      ],
      ["ok"],
    ]);
    const waits = [deferred(), deferred()];
    const tools = [
      tool("look", async ({ at }) => {
        if (at === 1) await waits[0]?.promise;
        else waits[0]?.resolve(); // the second call ends first
        return `result ${String(at)}`;
      }),
    ];
    const bench = await run({ model, tools });
    expect(bench.of("tool_call.ready").map(({ call }) => call)).to.have.members(["a", "b"]);
    const [said, results] = model.requests[1]?.messages.slice(-2) ?? [];
    const callsIn = (message: typeof said, type: string) =>
      message?.parts.flatMap((part) => (part.type === type && "call" in part ? [part.call] : []));
    expect(callsIn(said, "tool_call")).to.deep.equal(["a", "b"]);
    expect(callsIn(results, "tool_result")).to.deep.equal(["a", "b"]);
    // And to whoever takes the run over.
    const state = RunState.of(bench.events as RunEvent[]);
    expect(state.messages.flatMap((message) => callsIn(message, "tool_result") ?? [])).to.deep.equal(["a", "b"]);
  });

  for (const how of ["cancelled", "interrupted", "fenced"] as const) {
    it(`no tool starts early in a run that is ${how}, though its call is whole in the same read`, async () => {
      let ran = 0;
      const tools = [tool("look", () => void ran++), tool("again", () => void ran++, { effect: "idempotent" })];
      const model = new ScriptedModel([[say.call(0, "look", {}), say.call(1, "again", {}), say.wait(20)], ["ok"]]);
      const bench = new Bench({ model, tools });
      bench.log.onEvent = (event) => {
        if (event.type !== "tool_call.ready") return;
        const reason = new VenturiError("run.cancel", "stream_interrupted", how);
        if (how === "cancelled") bench.signal("cancel", { reason: how });
        else if (how === "interrupted") bench.interrupt.abort(reason);
        else bench.log.controller.abort(reason);
      };
      await bench.run().catch(() => {});
      expect(ran).to.equal(0);
      expect(bench.types).not.to.include("tool.started");
    });
  }
});
