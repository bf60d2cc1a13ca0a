import { expect } from "chai";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { pageBytes } from "../../../src/core/run/page.ts";
import { eventPage } from "../../../src/host/runs/event-page.ts";
import { memory } from "../../journal/setup.ts";

const run = "r";
const head = 60;
/** Every third is a step. */
const event = (seq: number): RunEvent =>
  seq % 3 === 0
    ? ({
        type: "tool.finished",
        run,
        seq,
        at: 0,
        round: 1,
        call: `c${seq}`,
        ok: true,
        output: "x".repeat(seq === 30 ? 4 * pageBytes : 60_000),
      } as RunEvent)
    : { type: "text.delta", run, seq, at: 0, round: 1, text: "y".repeat(30_000) };

describe("a page of events", () => {
  for (const steps of [false, true]) {
    it(`has about half a megabyte and at least one event; the pages are the run (${steps ? "steps" : "all"})`, async () => {
      const journal = memory();
      journal.read = async (_run: string, after: number, limit: number) =>
        Array.from({ length: Math.min(limit, head - after) }, (_, index) => event(after + index + 1));
      const seen: number[] = [];
      let pages = 0;
      for (let after: number | undefined = 0; after !== undefined; pages++) {
        const page = await eventPage(journal, { run, head }, { after, limit: 50, steps });
        const bytes = JSON.stringify(page.events).length;
        if (page.events.length > 1) expect(bytes).to.be.below(pageBytes * 1.1);
        seen.push(...page.events.map(({ seq }) => seq));
        after = page.next;
      }
      const all = Array.from({ length: head }, (_, index) => index + 1);
      expect(seen).to.deep.equal(steps ? all.filter((seq) => seq % 3 === 0) : all);
      expect(pages).to.be.within(4, 12);
    });
  }
});
