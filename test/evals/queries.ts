import { expect } from "chai";
import { messageOf } from "../../src/core/errors/errors.ts";
import type { Journal } from "../../src/core/journal/journal.ts";
import { DigestFold } from "../../src/core/run/digest.ts";
import type { EventBody } from "../../src/core/run/events.ts";
import type { RunRequest } from "../../src/core/run/run-request.ts";
import { shadowTenant } from "../../src/core/run/shadow.ts";
import { noTiming } from "../../src/core/run/timing.ts";
import { casesOf } from "../../src/evals/dataset/cases.ts";
import { readDataset } from "../../src/evals/dataset/read.ts";
import { Recordings } from "../../src/host/recordings/recordings.ts";
import { sourceOf } from "../../src/host/recordings/run-source.ts";
import { changeNotes, notesOf } from "../../src/journal/notes.ts";
import { giveFeedback } from "../../src/journal/run-feedback.ts";
import { claimed, eventsAfter } from "../../src/testing/journal-bench.ts";

interface Wanted {
  readonly request?: Partial<RunRequest>;
  readonly tenant?: string;
  readonly tool?: string;
  readonly model?: string;
  readonly code?: "llm_error";
  readonly score?: number;
  readonly label?: string;
}

/** What sets, shadows and splits ask a journal for, on whatever engine it is. */
export function datasetQueries(name: string, open: () => Promise<Journal>): void {
  describe(`queries of datasets, ${name}`, function () {
    this.timeout(60_000);
    let journal: Journal;
    const runs: Record<string, string> = {};
    const found = async (query: object): Promise<string[]> => {
      const text = JSON.stringify({ items: [{ runs: query }] });
      const cases = await casesOf(readDataset("set.yaml", text), sourceOf(new Recordings(journal)));
      const names = new Map(Object.entries(runs).map(([key, run]) => [run, key]));
      return cases.map(({ run = "" }) => names.get(run) ?? run).sort();
    };
    const said = (query: object) =>
      found(query).then(
        (all) => all.join(" "),
        (thrown: unknown) => messageOf(thrown),
      );

    before(async () => {
      journal = await open();
      const wanted: Record<string, Wanted> = {
        good: { tool: "sum", score: 1 },
        bad: { tool: "order", score: -1, label: "wrong" },
        failed: { code: "llm_error", model: "m/large", score: -1 },
        plain: {},
        other: { request: { agent: "other" }, score: 1 },
        bobs: { tenant: "bob", tool: "sum", score: 1, label: "wrong" },
        fork: { request: { fork: { run: "x", after: 1, tools: "recorded" } }, tool: "sum", score: 1 },
        shadow: { tenant: shadowTenant, request: { shadow: "main" }, tool: "sum" },
      };
      for (const [key, each] of Object.entries(wanted)) runs[key] = await ended(journal, each);
    });
    after(() => journal.close());

    it("by agent, tenant, outcome and time: neither forks nor shadows are among them", async () => {
      expect(await found({ agent: "assistant" })).to.deep.equal(["bad", "bobs", "failed", "good", "plain"]);
      expect(await found({ tenant: "bob" })).to.deep.equal(["bobs"]);
      expect(await found({ outcome: "failed" })).to.deep.equal(["failed"]);
      expect(await found({ since: "1h", agent: "other" })).to.deep.equal(["other"]);
      expect(await said({ until: "1h" })).to.include("no ended run is like this");
    });

    it("by what people think of them, together with other filters", async () => {
      expect(await found({ label: "wrong" })).to.deep.equal(["bad", "bobs"]);
      expect(await found({ minScore: 1 })).to.deep.equal(["bobs", "good", "other"]);
      expect(await found({ maxScore: 0, outcome: "failed" })).to.deep.equal(["failed"]);
      expect(await found({ label: "wrong", tenant: "bob" })).to.deep.equal(["bobs"]);
      expect(await found({ ratedBy: "local", agent: "other", since: "1h" })).to.deep.equal(["other"]);
    });

    it("by tool, model and code where the journal keeps digests; refused, not empty, where it does not", async () => {
      const has = journal.keepDigest !== undefined;
      const expected: [object, string][] = [
        [{ tool: "sum" }, "bobs good"],
        [{ tool: "sum", tenant: "bob" }, "bobs"],
        [{ model: "m/large" }, "failed"],
        [{ code: "llm_error" }, "failed"],
        [{ tool: "sum", minScore: 1 }, "bobs good"],
        [{ code: "llm_error", maxScore: 0 }, "failed"],
        [{ model: "m/small", label: "wrong" }, "bad bobs"],
      ];
      for (const [query, names] of expected)
        if (has) expect(await said(query), JSON.stringify(query)).to.equal(names);
        else expect(await said(query), JSON.stringify(query)).to.include("keeps no digests");
    });

    it("a shadow is found by its tenant, and what is said of the live run stays beside it", async () => {
      const { runs: shadows } = await journal.list({ tenant: shadowTenant });
      expect(shadows.map(({ run }) => run)).to.deep.equal([runs.shadow]);
      const row = (await journal.get(runs.good ?? "")) ?? expect.fail("no run");
      await changeNotes(journal, row, (notes) => ({ ...notes, shadow: { by: "m/large" } }));
      const notes = await notesOf(journal, row);
      expect(notes.shadow).to.deep.equal({ by: "m/large" });
      expect(notes.feedback.map(({ score }) => score)).to.deep.equal([1]);
    });
  });
}

async function ended(journal: Journal, wanted: Wanted): Promise<string> {
  const { tool, model = "m/small", code, score, label } = wanted;
  const asked = { agent: "assistant", input: { text: "hello" }, ...wanted.request };
  const { ownership, request } = await claimed(journal, { tenant: wanted.tenant ?? "default", request: asked });
  const end = { output: "", usage: {}, rounds: 1, timing: noTiming };
  const bodies: EventBody[] = [
    { type: "run.started", agent: asked.agent, input: asked.input },
    { type: "round.started", round: 1, model, attempt: 1 },
    { type: "generation.finished", round: 1, attempt: 1, finish: "stop", usage: {} },
    ...(tool === undefined
      ? []
      : [{ type: "tool_call.ready" as const, round: 1, call: "c", name: tool, arguments: {} }]),
    code === undefined
      ? { type: "run.finished", finish: "stop", ...end }
      : { type: "run.failed", error: { op: "x", code, err: "broke" }, ...end },
  ];
  const events = eventsAfter(ownership, bodies);
  const fold = new DigestFold(ownership.run, request, () => undefined);
  for (const event of events) fold.add(event);
  const last = events.at(-1);
  if (last?.type !== "run.finished" && last?.type !== "run.failed") throw new Error("it has no end");
  await journal.append([{ ownership, events, state: "done", end: fold.end(last) }]);
  const row = await journal.get(ownership.run);
  if (row !== undefined && (score ?? label) !== undefined) {
    const given = { ...(score === undefined ? {} : { score }), ...(label === undefined ? {} : { label }) };
    await giveFeedback(journal, row, { given, source: { now: Date.now() } });
  }
  return ownership.run;
}
