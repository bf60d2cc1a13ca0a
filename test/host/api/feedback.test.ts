import { expect } from "chai";
import { VenturiClient } from "../../../src/client/client.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import type { Feedback } from "../../../src/core/run/feedback.ts";
import { Recordings } from "../../../src/host/recordings/recordings.ts";
import { pruneRuns } from "../../../src/journal/notes.ts";
import { Bench, engines } from "./bench.ts";

interface Answer {
  readonly feedback: Feedback[];
  readonly error?: { readonly code: string; readonly err: string };
}

const journalOf = (bench: Bench) => bench.service?.host.journal ?? expect.fail("no service");

for (const engine of Object.keys(engines)) {
  describe(`feedback, on ${engine}`, function () {
    this.timeout(180_000);
    const bench = new Bench(engine);
    before(() => bench.open());
    after(() => bench.close());
    const give = (run: string, body: unknown, key = "ada") =>
      bench.ask<Feedback & Answer>(key, `/v1/runs/${run}/feedback`, { body });
    const of = async (run: string) => (await bench.ask<Answer>("ada", `/v1/runs/${run}/feedback`)).body.feedback;
    const found = async (query: string, key = "ada") =>
      (await bench.ask<{ runs: { run: string }[] }>(key, `/v1/runs?${query}`)).body.runs.map(({ run }) => run);
    const kept = async () => (await journalOf(bench).keyValues?.list("notes", { limit: 1000 }))?.map(({ key }) => key);

    it("is kept beside the run: its events and their number stay as they were", async () => {
      const run = await bench.run("ada", "hello");
      const events = await bench.events(run);
      const { status, body } = await give(run, { score: -1, label: "wrong", comment: "no 👎", by: "cust-1", seq: 1 });
      expect(status).to.equal(201);
      expect(body).to.include({ score: -1, label: "wrong", by: "cust-1", key: "ada", seq: 1 });
      expect(await of(run)).to.deep.equal([body]);
      expect(await bench.events(run)).to.deep.equal(events);
      const row = await bench.ask<{ head: number }>("ada", `/v1/runs/${run}`);
      expect(row.body.head).to.equal(events.length);
    });

    it("keeps one feedback per person and event, the last; keys do not replace each other's", async () => {
      const run = await bench.run("ada", "hello");
      await give(run, { score: 1, by: "cust" });
      await give(run, { score: -1, by: "cust" });
      await give(run, { score: 1, by: "cust", seq: 1 });
      await give(run, { score: 1, by: "cust" }, "plain");
      await give(run, { label: "fine" });
      expect((await of(run)).map(({ by, score, seq, key }) => [by, score, seq, key])).to.deep.equal([
        ["cust", -1, undefined, "ada"],
        ["cust", 1, 1, "ada"],
        ["cust", 1, undefined, "plain"],
        ["ada", undefined, undefined, "ada"],
      ]);
    });

    it("of many people at once is all kept", async () => {
      const run = await bench.run("ada", "hello");
      await Promise.all(Array.from({ length: 12 }, (_, index) => give(run, { score: index, by: `p${index}` })));
      expect((await of(run)).map(({ score = -1 }) => score).toSorted((a, b) => a - b)).to.deep.equal(
        Array.from({ length: 12 }, (_, index) => index),
      );
    });

    it("is refused when it says nothing, is no event of the run, or comes from another tenant or scope", async () => {
      const run = await bench.run("ada", "hello");
      for (const body of [
        {},
        { score: "5" },
        { score: 1, seq: 1e6 },
        { score: 1, seq: 0 },
        { label: "" },
        { stars: 5 },
      ])
        expect((await give(run, body)).body.error?.code, JSON.stringify(body)).to.equal("invalid_input");
      for (const [key, status] of [
        ["bob", 404],
        ["narrow", 404],
        ["blind", 403],
      ] as const) {
        expect((await give(run, { score: 1 }, key)).status, key).to.equal(status);
        expect((await bench.ask(key, `/v1/runs/${run}/feedback`)).status, key).to.equal(status);
      }
      expect((await give("run_nope", { score: 1 })).status).to.equal(404);
      expect(await of(run)).to.deep.equal([]);
    });

    it("selects runs, newest first, together with other filters and page by page", async () => {
      const label = `odd-${engine}`;
      const runs = [];
      for (const [index, input] of ["one", "What is 17 * 23?", "three"].entries()) {
        const run = await bench.run("ada", input, { metadata: { place: index } });
        await give(run, { score: index, label, by: `by-${index}` });
        runs.unshift(run);
      }
      const bobs = await bench.run("bob", "mine");
      await give(bobs, { score: 1, label }, "bob");
      expect(await found(`label=${label}`)).to.deep.equal(runs);
      expect(await found(`label=${label}`, "bob")).to.deep.equal([bobs]);
      expect(await found(`label=${label}`, "root")).to.deep.equal([bobs, ...runs]);
      expect(await found(`label=${label}&minScore=1`)).to.deep.equal(runs.slice(0, 2));
      expect(await found(`label=${label}&maxScore=0`)).to.deep.equal(runs.slice(2));
      expect(await found(`label=${label}&ratedBy=by-1`)).to.deep.equal([runs[1]]);
      expect(await found(`label=${label}&tool=calculator`)).to.deep.equal([runs[1]]);
      expect(await found(`label=${label}&metadata.place=2`)).to.deep.equal([runs[0]]);
      expect(await found(`label=${label}&since=2099-01-01`)).to.deep.equal([]);
      expect(await found(`label=${label}&until=2001-01-01`)).to.deep.equal([]);
      expect(await found("rated=true")).to.include.members(runs);
      const pages: string[] = [];
      let cursor: string | undefined;
      do {
        const more = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const page = await bench.ask<{ runs: { run: string }[]; cursor?: string }>(
          "ada",
          `/v1/runs?label=${label}&limit=1${more}`,
        );
        pages.push(...page.body.runs.map(({ run }) => run));
        cursor = page.body.cursor;
      } while (cursor !== undefined);
      expect(pages).to.deep.equal(runs);
      const refused = await bench.ask<Answer>("ada", `/v1/runs?label=${label}&q=one`);
      expect(refused.body.error?.code).to.equal("invalid_input");
    });

    it("is erased with the run, by whatever removes it", async () => {
      const [first = "", second = ""] = [await bench.run("ada", "hello"), await bench.run("ada", "hello again")];
      for (const run of [first, second]) await give(run, { comment: "my address is 1 Main Street" });
      const has = async (run: string) => (await kept())?.some((key) => key.endsWith(run));
      expect(await has(first)).to.equal(true);
      await bench.ask("ada", `/v1/runs/${first}`, { method: "DELETE" });
      expect(await has(first)).to.equal(false);
      expect(await has(second)).to.equal(true);
      expect((await give(first, { score: 1 })).status).to.equal(404);
      await pruneRuns(journalOf(bench), { keep: 0 }, systemClock);
      expect(await kept()).to.deep.equal([]);
    });

    it("goes with an exported run, and both clients speak of it alike", async () => {
      const client = new VenturiClient({ url: bench.url, apiKey: "ada-key" });
      const run = client.run(await bench.run("ada", "hello"));
      const given = await run.giveFeedback({ score: 0.5, comment: "so so" });
      expect(await run.feedback()).to.deep.equal([given]);
      const recordings = new Recordings(journalOf(bench));
      let text = "";
      for await (const line of recordings.export(run.id)) text += line;
      await recordings.import(text, `copy-${engine}`);
      expect(await client.run(`copy-${engine}`).feedback()).to.deep.equal([given]);
    });
  });
}

describe("feedback, after a restart", () => {
  it("is still there on a journal that keeps its runs", async () => {
    const bench = new Bench("sqlite");
    await bench.open();
    const run = await bench.run("ada", "hello");
    await bench.ask("ada", `/v1/runs/${run}/feedback`, { body: { score: 1 } });
    await bench.service?.drain();
    await bench.start();
    const { body } = await bench.ask<Answer>("ada", `/v1/runs/${run}/feedback`);
    expect(body.feedback.map(({ score }) => score)).to.deep.equal([1]);
    await bench.close();
  });
});
