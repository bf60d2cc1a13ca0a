import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { EventType } from "../../src/core/run/events.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { Bench, deferred, tool } from "./harness.ts";

const parkAfter = 1_000;

interface Asker {
  readonly call: string;
  readonly tool: ReturnType<typeof tool>;
}

const askers: Readonly<Record<string, Asker>> = {
  "an approval": {
    call: "call-pay-0",
    tool: tool("pay", async () => "paid", { approval: "always", effect: "effectful" }),
  },
  "a running tool's question": {
    call: "call-pay-0.q1",
    tool: tool(
      "pay",
      async (_input, { ask }) => ((await ask({ id: "q1", name: "pay", arguments: {} })).approved ? "paid" : "not paid"),
      {
        effect: "effectful",
        resumable: true,
      },
    ),
  },
};

/** A run whose store acknowledges events of one type `late` ms after it has them: others see and answer them meanwhile. */
function benchOf(asker: Asker, { held, late }: { held: EventType; late: number }) {
  const clock = new VirtualClock();
  const model = new ScriptedModel([[say.call(0, "pay", {})], ["ok"]], { clock });
  const bench = new Bench({ model, clock, parkAfter, tools: [asker.tool] });
  const flush = bench.log.flush.bind(bench.log);
  bench.log.flush = async () => {
    if (bench.events.at(-1)?.type === held) {
      const acknowledged = deferred();
      clock.after(late, () => acknowledged.resolve());
      await acknowledged.promise;
    }
    await flush();
  };
  return { bench, clock };
}

/** Runs to the end; a park that leaves a signal unseen is woken, as the journal does, with the events so far. */
async function outcomeOf(first: Bench, clock: VirtualClock, asker: Asker, signals: number): Promise<string> {
  if (first.types.at(-1) === "run.finished") return "finished";
  const [park] = first.log.parks;
  if (park === undefined) return `neither ended nor parked: ${first.types.join(" ")}`;
  if (park.seenSignals >= signals) return `parked with the answer in it, for ${park.wakeAfter} ms`;
  const model = new ScriptedModel([["ok"]], { clock });
  const next = new Bench({ model, clock, parkAfter, tools: [asker.tool], history: [...first.events] });
  next.signal("approve", { call: asker.call, approved: true });
  const done = next.run();
  await clock.advance(10_000);
  await done;
  return next.types.at(-1) === "run.finished" ? "finished" : `woken in vain: ${next.types.join(" ")}`;
}

describe("an answer to a question that is stored but not acknowledged", () => {
  for (const [what, asker] of Object.entries(askers)) {
    for (const held of ["approval.requested", "approval.resolved"] as const) {
      it(`${what}: is never lost, whenever it comes beside a late ${held}`, async () => {
        const found: string[] = [];
        for (const late of [0, 10, 500, 999, 1_000, 1_001, 1_500, 5_000]) {
          for (const answerAt of [0, 5, 400, 998, 999, 1_000, 1_001, 1_200, 1_499, 1_501, 2_000, 4_999, 5_001, 6_500]) {
            const { bench, clock } = benchOf(asker, { held, late });
            const done = bench.run();
            await bench.when("approval.requested");
            await clock.advance(answerAt);
            bench.signal("approve", { call: asker.call, approved: true });
            await clock.advance(20_000);
            await done;
            const outcome = await outcomeOf(bench, clock, asker, 1);
            const paid = bench.of("tool.finished").length;
            if (outcome !== "finished" || paid > 1)
              found.push(`late ${late}, answered at ${answerAt}: ${outcome}, paid ${paid}`);
          }
        }
        expect(found).to.deep.equal([]);
      });
    }

    it(`${what}: a shutdown beside a held answer neither loses it nor waits for the store`, async () => {
      for (const held of ["approval.requested", "approval.resolved"] as const) {
        for (const order of ["answer first", "shutdown first"]) {
          const { bench, clock } = benchOf(asker, { held, late: 60_000 });
          const done = bench.run();
          await bench.when("approval.requested");
          await clock.advance(10);
          const answer = () => bench.signal("approve", { call: asker.call, approved: true });
          const stop = () => bench.interrupt.abort(new VenturiError("host.close", "shutting_down", "stopping"));
          for (const act of order === "answer first" ? [answer, stop] : [stop, answer]) act();
          await clock.advance(1_000);
          await done;
          const released = bench.log.parks.length === 0 && bench.types.at(-1) !== "run.finished";
          if (!released) expect(await outcomeOf(bench, clock, asker, 1), `${held}, ${order}`).to.equal("finished");
        }
      }
    });
  }

  it("an answer for a call that asks nothing does not keep the run from being parked", async () => {
    const asker = askers["an approval"] as Asker;
    const { bench, clock } = benchOf(asker, { held: "approval.requested", late: 0 });
    const done = bench.run();
    await bench.when("approval.requested");
    bench.signal("approve", { call: "call-other", approved: true });
    await clock.advance(2_000);
    await done;
    expect(bench.log.parks).to.have.length(1);
  });

  it("is not given to a tool whose call ended before its question was acknowledged: nothing stores it any more", async () => {
    for (const question of [{ arguments: {} }, { kind: "input", message: "How many?" }] as const) {
      const clock = new VirtualClock();
      const told: unknown[] = [];
      const asks = tool("asks", async (_input, { ask }) => {
        const { approved } = await ask({ id: "q", name: "asks", ...question });
        told.push(approved);
        return "done";
      });
      const model = new ScriptedModel([[say.call(0, "asks", {}), say.wait(500), say.fail("rate_limited")]], { clock });
      const bench = new Bench({ model, clock, parkAfter, tools: [asks] });
      const flush = bench.log.flush.bind(bench.log);
      const acknowledged = deferred();
      bench.log.flush = async () => {
        if (bench.of("approval.requested").length + bench.of("question.asked").length > 0) await acknowledged.promise;
        await flush();
      };
      const done = bench.run();
      await bench.when("message" in question ? "question.asked" : "approval.requested");
      bench.signal("approve", { call: "call-asks-0.q", approved: true, answer: 3 });
      await clock.advance(60_000);
      acknowledged.resolve();
      await clock.advance(60_000);
      await done;
      const stored = [...bench.of("approval.resolved"), ...bench.of("question.answered")];
      expect(bench.terminal.type).to.equal("run.failed");
      expect({ told, stored: stored.length }).to.deep.equal({ told: [false], stored: 0 });
    }
  });
});
