import { strict as assert } from "node:assert";
import type { Journal, Ownership } from "../core/journal/journal.ts";
import { Billing, type Hold, type Reserved, type UsageRow } from "../core/journal/money.ts";
import type { EventBody, RunEvent } from "../core/run/events.ts";
import { noTiming } from "../core/run/timing.ts";
import { claimed, eventsAfter, freshName, type JournalBench } from "./journal-bench.ts";

const until = 4_102_444_800_000;
const spoken = (inputTokens: number, cost?: number): EventBody[] => [
  { type: "round.started", round: 1, model: "m/small", attempt: 1 },
  {
    type: "generation.finished",
    round: 1,
    attempt: 1,
    finish: "stop",
    usage: { inputTokens, outputTokens: 1 },
    ...(cost === undefined ? {} : { cost }),
  },
];
const refused: EventBody = {
  type: "generation.failed",
  round: 1,
  attempt: 1,
  model: "m/small",
  error: { op: "provider.stream", code: "rate_limited", err: "later" },
};
const ended: EventBody = { type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing: noTiming };

/** Usage sums and budget accounts. */
export function moneyCases(bench: JournalBench): void {
  describe("usage", () => {
    it("is summed with the events that tell it, by any of its keys, and outlives the runs", async () => {
      const journal = await bench.open();
      if (journal.usage === undefined) return;
      const tenant = freshName("tenant");
      const one = await billed(journal, tenant, { request: { agent: "a", input: {}, user: "ada" } });
      const two = await billed(journal, tenant, { request: { agent: "b", input: {}, caller: { id: "key" } } });
      await one.append([...spoken(10, 0.1), ...spoken(20)]);
      await two.append(spoken(300, 0.25));
      await one.append([{ ...refused, usage: { inputTokens: 5 }, cost: 0.05 } as EventBody, ended], "done");
      const only = { tenant };
      const sums = async (...by: (keyof UsageRow)[]) =>
        (await journal.usage?.({ by: by as never, only }))?.map((row) => [
          ...by.map((key) => row[key]),
          row.generations,
          row.failed,
          row.unpriced,
          row.nanos,
          row.inputTokens,
          row.outputTokens,
        ]);
      const total = [3, 1, 1, 400_000_000, 335, 3];
      assert.deepEqual(await sums(), [total]);
      assert.deepEqual(await sums("agent"), [
        ["a", 2, 1, 1, 150_000_000, 35, 2],
        ["b", 1, 0, 0, 250_000_000, 300, 1],
      ]);
      assert.deepEqual(await sums("user", "key"), [
        ["", "key", 1, 0, 0, 250_000_000, 300, 1],
        ["ada", "", 2, 1, 1, 150_000_000, 35, 2],
      ]);
      const [day] = (await sums("day")) ?? [];
      assert.match(String(day?.[0]), /^\d{4}-\d\d-\d\d$/);
      assert.deepEqual(await journal.usage({ by: [], only, until: "2000-01-01" }), []);
      assert.deepEqual(await journal.usage({ by: [], only: { tenant: `${tenant}-other` } }), []);
      await journal.prune({ runs: [one.ownership.run] });
      assert.equal(await journal.get(one.ownership.run), undefined);
      assert.deepEqual(await sums(), [total]);
      assert.deepEqual(
        (await (await bench.reopen()).usage?.({ by: ["tenant"], only }))?.map(({ nanos }) => nanos),
        [400_000_000],
      );
    });

    it("is not counted again when an append is repeated, nor when it is fenced", async () => {
      const journal = await bench.open();
      if (journal.usage === undefined) return;
      const tenant = freshName("tenant");
      const { ownership, append } = await billed(journal, tenant);
      const item = await append(spoken(10, 0.1));
      assert.equal((await journal.append([item])).size, 0);
      await journal.release(ownership);
      const next = (await journal.claim(freshName("worker"), 1_000)).find(
        (claim) => claim.ownership.run === ownership.run,
      )?.ownership;
      assert.ok(next);
      const late = { ...item, ownership, events: eventsAfter({ ...ownership, head: 2 }, spoken(10, 0.1)) };
      assert.equal((await journal.append([late])).size, 1);
      const rows = await journal.usage({ by: ["tenant"], only: { tenant } });
      assert.deepEqual(
        rows.map(({ nanos, generations }) => [nanos, generations]),
        [[100_000_000, 1]],
      );
    });

    it("of a run that was restored is its journal's, where it was spent", async () => {
      const journal = await bench.open();
      if (journal.usage === undefined) return;
      const tenant = freshName("tenant");
      const run = freshName("run");
      const events = eventsAfter({ run, head: 0 } as Ownership, [
        { type: "run.started", agent: "a", input: {} },
        ...spoken(10, 0.1),
        ended,
      ]);
      const request = { agent: "a", input: {} };
      await journal.restore({ run, tenant, session: undefined, request, signals: [], wires: [], events });
      assert.deepEqual(await journal.usage({ by: ["tenant"], only: { tenant } }), []);
    });
  });

  describe("accounts", () => {
    const kindOf = (answer: Reserved | undefined) => answer?.kind;

    it("are reserved before and settled with the event of a generation; what others hold counts", async () => {
      const journal = await bench.open();
      const { reserve } = journal;
      if (reserve === undefined) return;
      const account = freshName("account");
      const hold: Hold = { account, nanos: 400, tokens: 4, maxNanos: 1_000, until };
      const [one, two, three] = await Promise.all([1, 2, 3].map(() => billed(journal, freshName("tenant"))));
      assert.ok(one && two && three);
      assert.equal(kindOf(await one.reserve([hold])), "held");
      assert.equal(kindOf(await two.reserve([hold])), "held");
      const refusal = await three.reserve([hold]);
      assert.deepEqual(refusal?.kind === "over" && refusal.over, [
        { account, spent: { nanos: 0, tokens: 0 }, held: { nanos: 800, tokens: 8 } },
      ]);
      await one.append([refused]);
      assert.equal(kindOf(await three.reserve([hold])), "held");
      await two.append(spoken(9, 0.000_000_1));
      await three.append([ended], "done");
      assert.equal(kindOf(await one.reserve([{ ...hold, nanos: 900 }])), "held");
      const balances = await journal.balances?.([account, freshName("account")]);
      const held = { nanos: 900, tokens: 4 };
      assert.deepEqual(balances ?? [], balances && [{ account, spent: { nanos: 100, tokens: 10 }, held }]);
      const more = await two.reserve([{ ...hold, nanos: 1 }]);
      assert.deepEqual(more?.kind === "over" && more.over[0], {
        account,
        spent: { nanos: 100, tokens: 10 },
        held: { nanos: 900, tokens: 4 },
      });
    });

    it("are reserved all or none, and a run's next reservation takes the place of its last", async () => {
      const journal = await bench.open();
      if (journal.reserve === undefined) return;
      const [small, large] = [freshName("account"), freshName("account")];
      const hold: Hold = { account: large, nanos: 60, tokens: 0, maxNanos: 100, until };
      const { reserve } = await billed(journal, freshName("tenant"));
      assert.equal(kindOf(await reserve([hold, { ...hold, account: small, maxNanos: 1 }])), "over");
      assert.equal(kindOf(await reserve([hold])), "held");
      assert.equal(kindOf(await reserve([{ ...hold, nanos: 100 }])), "held");
      assert.equal(kindOf(await reserve([{ ...hold, nanos: 101 }])), "over");
      const tokens = { account: small, nanos: 0, tokens: 7, maxTokens: 6, until };
      assert.equal(kindOf(await reserve([tokens])), "over");
      assert.equal(kindOf(await reserve([{ account: small, nanos: 1e12, tokens: 1e9, until }])), "held");
    });

    it("of a run are left to its owner: one that lost it reserves nothing, and its hold passes on", async () => {
      const journal = await bench.open();
      if (journal.reserve === undefined) return;
      const account = freshName("account");
      const hold: Hold = { account, nanos: 100, tokens: 0, maxNanos: 100, until };
      const { ownership, reserve } = await billed(journal, freshName("tenant"));
      assert.equal(kindOf(await reserve([hold])), "held");
      await journal.release(ownership);
      assert.equal(kindOf(await reserve([hold])), "fenced");
      const claims = await journal.claim(freshName("worker"), 1_000);
      const next = claims.find((claim) => claim.ownership.run === ownership.run)?.ownership;
      assert.ok(next);
      assert.equal(kindOf(await reserve([hold])), "fenced");
      assert.equal(kindOf(await journal.reserve({ ownership: next, holds: [hold] })), "held");
    });

    it("tell once that they have reached 80 and 100 per cent", async () => {
      const journal = await bench.open();
      if (journal.reserve === undefined) return;
      const account = freshName("account");
      const hold: Hold = { account, nanos: 10, tokens: 0, maxNanos: 1_000, until };
      const { reserve, append } = await billed(journal, freshName("tenant"));
      const levels = async (nanos: number): Promise<number[]> => {
        const answer = await reserve([{ ...hold, nanos }]);
        return answer?.kind === "fenced" ? [] : (answer?.reached.map(({ level }) => level) ?? []);
      };
      assert.deepEqual(await levels(10), []);
      await append(spoken(1, 0.000_000_8));
      assert.deepEqual(await levels(10), [80]);
      assert.deepEqual(await levels(10), []);
      assert.deepEqual(await levels(201), [100]);
      assert.deepEqual(await levels(201), []);
    });

    it("that many runs share are held and settled together, but for those whose run is another's", async () => {
      const journal = await bench.open();
      if (journal.reserve === undefined) return;
      const shared = freshName("account");
      const runs = await Promise.all(Array.from({ length: 9 }, () => billed(journal, freshName("tenant"))));
      const [lost] = runs;
      assert.ok(lost);
      await journal.release(lost.ownership);
      const hold = { nanos: 10, tokens: 1, maxNanos: 1_000, until };
      const own = runs.map(({ ownership }) => `${shared}-${ownership.run}`);
      const answers = await Promise.all(
        runs.map(({ reserve }, index) =>
          reserve([
            { ...hold, account: shared },
            { ...hold, account: own[index] ?? "" },
          ]),
        ),
      );
      assert.deepEqual(answers.map(kindOf), ["fenced", ...Array.from({ length: 8 }, () => "held")]);
      const heldOf = async (account: string) => (await journal.balances?.([account]))?.[0]?.held.nanos;
      const seen = await Promise.all([heldOf(shared), heldOf(own[1] ?? "")]);
      assert.deepEqual(seen, journal.balances === undefined ? [undefined, undefined] : [80, 10]);
      await Promise.all(runs.slice(1).map(({ append }) => append(spoken(1, 0.000_000_02))));
      const [end] = (await journal.balances?.([shared])) ?? [];
      if (journal.balances !== undefined)
        assert.deepEqual(end, { account: shared, spent: { nanos: 160, tokens: 16 }, held: { nanos: 0, tokens: 0 } });
    });

    it("hold within their bound however many ask at once", async () => {
      const journal = await bench.open();
      if (journal.reserve === undefined) return;
      const account = freshName("account");
      const runs = await Promise.all(Array.from({ length: 12 }, () => billed(journal, freshName("tenant"))));
      const answers = await Promise.all(
        runs.map(({ reserve }) => reserve([{ account, nanos: 10, tokens: 1, maxNanos: 75, until }])),
      );
      assert.equal(answers.filter((answer) => answer?.kind === "held").length, 7);
    });
  });
}

/** A run whose appends include the cost of their events. */
async function billed(journal: Journal, tenant: string, more: Parameters<typeof claimed>[1] = {}) {
  const { ownership, request } = await claimed(journal, { tenant, ...more });
  const billing = new Billing({ tenant, request });
  return {
    ownership,
    reserve: async (holds: readonly Hold[]): Promise<Reserved | undefined> => {
      const answer = await journal.reserve?.({ ownership, holds });
      if (answer?.kind === "held") billing.held(holds);
      return answer;
    },
    append: async (bodies: readonly EventBody[], state?: "done") => {
      const events: RunEvent[] = eventsAfter(ownership, [...bodies]);
      for (const event of events) billing.add(event);
      const bill = billing.take();
      const item = {
        ownership: { ...ownership },
        events,
        ...(bill === undefined ? {} : { billed: bill }),
        ...(state === undefined ? {} : { state }),
      };
      assert.equal((await journal.append([item])).size, 0);
      ownership.head = events.at(-1)?.seq ?? ownership.head;
      return item;
    },
  };
}
