import { strict as assert } from "node:assert";
import type { Journal } from "../core/journal/journal.ts";
import { DigestFold, type EndOfRun, endOfRun } from "../core/run/digest.ts";
import type { EventBody, RunEvent } from "../core/run/events.ts";
import type { ListQuery } from "../core/run/list-query.ts";
import { noTiming } from "../core/run/timing.ts";
import { claimed, eventsAfter, freshName, type JournalBench } from "./journal-bench.ts";

interface Ended {
  readonly input: string;
  readonly output: string;
  readonly tenant: string;
  readonly tool?: string;
  readonly model?: string;
  readonly code?: "llm_error";
  readonly ms?: number;
  /** Input tokens at one USD per million. */
  readonly millions?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Digests of ended runs: stored with the terminal event, listed, searched and removed with their run. */
export function digestCases(bench: JournalBench): void {
  describe("digests", () => {
    it("a journal without digests says so when it is asked about them", async () => {
      const journal = await bench.open();
      if (journal.keepDigest !== undefined) return;
      await assert.rejects(journal.list({ text: "word" }), { code: "invalid_input" });
    });

    it("a run's digest is there with its terminal event, in list and get, and not before", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) return;
      const tenant = freshName("tenant");
      const { ownership, tenant: owner } = await claimed(journal, { tenant });
      assert.equal((await journal.get(ownership.run))?.digest, undefined);
      const run = await ended(journal, { input: "How much?", output: "391", tenant, tool: "calculator" });
      const other = await bench.reopen();
      const { digest } = (await other.get(run)) ?? {};
      assert.deepEqual([digest?.run, digest?.input, digest?.output], [run, "How much?", "391"]);
      assert.deepEqual([digest?.tools, digest?.models, digest?.status], [["calculator"], ["m/small"], "finished"]);
      const { runs } = await journal.list({ tenant: owner });
      assert.deepEqual(
        runs.map((row) => [row.run, row.digest?.status]),
        [
          [run, "finished"],
          [ownership.run, undefined],
        ],
      );
    });

    it("finds runs by words, tool, model, code, duration, time and tenant, in full pages", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) return;
      const tenant = freshName("tenant");
      const lisbon = await ended(journal, { input: "Flights to Lisbon", output: "There are two.", tenant, ms: 500 });
      const sums = await ended(journal, { input: "What is 17 * 23?", output: "It is 391.", tenant, tool: "sum" });
      const failed = await ended(journal, {
        input: "Lisbon again",
        output: "",
        tenant,
        code: "llm_error",
        model: "m/big",
      });
      await ended(journal, { input: "Lisbon of another", output: "", tenant: freshName("tenant"), tool: "sum" });
      const found = async (query: ListQuery) => (await journal.list({ tenant, ...query })).runs.map(({ run }) => run);
      assert.deepEqual(await found({ text: "lisbon" }), [failed, lisbon]);
      assert.deepEqual(await found({ text: "Lis fli" }), [lisbon]);
      assert.deepEqual(await found({ text: "391" }), [sums]);
      assert.deepEqual(await found({ text: '"quoted" OR (391' }), []);
      assert.deepEqual(await found({ text: "*&|!" }), []);
      assert.deepEqual(await found({ tool: "sum" }), [sums]);
      assert.deepEqual(await found({ model: "m/big" }), [failed]);
      assert.deepEqual(await found({ code: "llm_error" }), [failed]);
      assert.deepEqual(await found({ minMs: 400 }), [lisbon]);
      assert.deepEqual(await found({ text: "lisbon", code: "llm_error" }), [failed]);
      const { createdAt = 0 } = (await journal.get(lisbon)) ?? {};
      assert.deepEqual(await found({ text: "lisbon", until: createdAt }), []);
      assert.ok((await found({ since: createdAt })).includes(lisbon));
      const first = await journal.list({ tenant, text: "lisbon", limit: 1 });
      assert.deepEqual(
        first.runs.map(({ run }) => run),
        [failed],
      );
      const rest = await journal.list({ tenant, text: "lisbon", limit: 1, cursor: first.cursor ?? "" });
      assert.deepEqual([rest.runs.map(({ run }) => run), rest.cursor], [[lisbon], undefined]);
    });

    it("lists the longest and the costliest first, page by page", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) {
        await assert.rejects(journal.list({ sort: "longest" }), { code: "invalid_input" });
        return;
      }
      const tenant = freshName("tenant");
      const run = (wanted: Pick<Ended, "ms" | "millions">) =>
        ended(journal, { input: "", output: "", tenant, ...wanted });
      const short = await run({ ms: 10.5, millions: 3 });
      const first = await run({ ms: 70, millions: 0.25 });
      const second = await run({ ms: 70 });
      const long = await run({ ms: 900, millions: 3 });
      await claimed(journal, { tenant });
      const pages = async (query: ListQuery) => {
        const runs: string[] = [];
        for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
          const page = await journal.list({ tenant, limit: 1, ...query, ...(cursor === undefined ? {} : { cursor }) });
          runs.push(...page.runs.map((row) => row.run));
          cursor = page.cursor;
        }
        return runs;
      };
      assert.deepEqual(await pages({ sort: "longest" }), [long, second, first, short]);
      assert.deepEqual(await pages({ sort: "costliest" }), [long, short, first]);
      assert.deepEqual(await pages({ sort: "longest", limit: 3 }), [long, second, first, short]);
      assert.deepEqual(await pages({ sort: "longest", minMs: 60, limit: 10 }), [long, second, first]);
      assert.equal((await journal.get(short))?.digest?.cost, 3);
      await assert.rejects(journal.list({ tenant, sort: "longest", cursor: "17" }), { code: "invalid_input" });
    });

    it("finds runs by their metadata, ended or not, whatever else their request holds", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) {
        await assert.rejects(journal.list({ metadata: { a: "b" } }), { code: "invalid_input" });
        return;
      }
      const tenant = freshName("tenant");
      const metadata = {
        customer: 'Ada "Q" 100%',
        tier: 2,
        trial: true,
        "a.b": "dotted",
        nested: { x: "y" },
        none: null,
      };
      const done = await ended(journal, { input: "", output: "", tenant, metadata });
      const input = { text: 'zero \u0000 half \ud83d back\\u0000 "metadata":{"customer":"no"}' };
      const open = await claimed(journal, {
        tenant,
        request: { agent: "a", input, metadata: { customer: "bob", tier: "2" } },
      });
      await ended(journal, { input: '"metadata": {"customer": "bob"}', output: "", tenant });
      const found = async (wanted: Record<string, string>) =>
        (await journal.list({ tenant, metadata: wanted })).runs.map(({ run }) => run);
      assert.deepEqual(await found({ customer: 'Ada "Q" 100%' }), [done]);
      assert.deepEqual(await found({ customer: "bob" }), [open.ownership.run]);
      assert.deepEqual(await found({ tier: "2" }), [open.ownership.run, done]);
      assert.deepEqual(await found({ tier: "2", trial: "true" }), [done]);
      assert.deepEqual(await found({ "a.b": "dotted" }), [done]);
      for (const [key, value] of [
        ["nested", '{"x":"y"}'],
        ["none", "null"],
        ["none", ""],
        ["missing", ""],
        ["trial", "1"],
        ["customer", "ada"],
        ["customer' OR '1'='1", "x"],
        ["__proto__", "x"],
      ]) {
        assert.deepEqual(await found(Object.fromEntries([[key, value]])), [], key);
      }
    });

    it("takes texts that no engine likes", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) return;
      const tenant = freshName("tenant");
      const output = `zero \u0000 half \ud83d quote " ${"é".repeat(9_000)} 😀`;
      const run = await ended(journal, { input: "\ud800", output, tenant, tool: "a\u0000b\udfff" });
      assert.equal((await journal.get(run))?.digest?.run, run);
      assert.deepEqual(
        (await journal.list({ tenant, text: "quote" })).runs.map((row) => row.run),
        [run],
      );
    });

    it("replaces a digest, and removes it with its run", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) return;
      const tenant = freshName("tenant");
      const run = await ended(journal, { input: "first words", output: "", tenant });
      const row = await journal.get(run);
      const events = await journal.read(run, 0, 100);
      const again = endOfRun({ run, request: row?.request ?? { agent: "a", input: {} } }, events) as EndOfRun; // The run has ended.
      await journal.keepDigest(run, { ...again, text: "other words" });
      const found = async (text: string) => (await journal.list({ tenant, text })).runs.length;
      assert.deepEqual([await found("first"), await found("other")], [0, 1]);
      await journal.prune({ runs: [run] });
      assert.deepEqual([await found("other"), await journal.get(run)], [0, undefined]);
      await journal.keepDigest(run, again);
      assert.equal(await found("first"), 0);
    });

    it("is there for a run that was restored", async () => {
      const journal = await bench.open();
      if (journal.keepDigest === undefined) return;
      const run = freshName("run");
      const tenant = freshName("tenant");
      const events = eventsOf(
        { run, session: undefined, epoch: 1, worker: "", head: 0 },
        { input: "restored", output: "", tenant },
      );
      const request = { agent: "a", input: { text: "restored" } };
      await journal.restore({ run, tenant, session: undefined, request, signals: [], wires: [], events });
      const { runs } = await journal.list({ tenant, text: "restored" });
      assert.deepEqual(
        runs.map((row) => row.digest?.input),
        ["restored"],
      );
    });
  });
}

async function ended(journal: Journal, wanted: Ended): Promise<string> {
  const { tenant, metadata } = wanted;
  const asked = { agent: "assistant", input: { text: wanted.input }, ...(metadata === undefined ? {} : { metadata }) };
  const { ownership, request } = await claimed(journal, { tenant, request: asked });
  const events = eventsOf(ownership, wanted);
  const priceOf = (model: string) => (model === "m/small" ? { input: 1, output: 0 } : undefined);
  const fold = new DigestFold(ownership.run, request, priceOf);
  for (const event of events) fold.add(event);
  const last = events.at(-1);
  assert.ok(last?.type === "run.finished" || last?.type === "run.failed");
  const fenced = await journal.append([{ ownership, events, state: "done", end: fold.end(last) }]);
  assert.equal(fenced.size, 0);
  return ownership.run;
}

function eventsOf(ownership: Parameters<typeof eventsAfter>[0], wanted: Ended): RunEvent[] {
  const { input, output, tool, model = "m/small", code, ms = 100 } = wanted;
  const usage = wanted.millions === undefined ? {} : { inputTokens: wanted.millions * 1_000_000 };
  const end = { output, usage, rounds: 1, timing: noTiming };
  const bodies: EventBody[] = [
    { type: "run.started", agent: "a", input: { text: input } },
    { type: "round.started", round: 1, model, attempt: 1 },
    { type: "generation.finished", round: 1, attempt: 1, finish: "stop", usage },
    ...(tool === undefined
      ? []
      : [{ type: "tool_call.ready" as const, round: 1, call: "c", name: tool, arguments: {} }]),
    code === undefined
      ? { type: "run.finished", finish: "stop", ...end }
      : { type: "run.failed", error: { op: "x", code, err: "broke" }, ...end },
  ];
  const events = eventsAfter(ownership, bodies);
  const start = events[0]?.at ?? 0;
  return events.map((event, index) => ({ ...event, at: index === events.length - 1 ? start + ms : start }));
}
