import { expect } from "chai";
import { MemoryJournal } from "../../plugins/memory/journal.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import { encodedSize, encodeEvent, forgetEncoding } from "../../src/core/run/encode-event.ts";
import type { RunEvent } from "../../src/core/run/events.ts";

const event = (seq: number, text = "é"): RunEvent => ({ type: "text.delta", round: 1, text, run: "run_1", at: 1, seq });

/** Whether its JSON is kept: what changes later does not show. */
function isKept(one: RunEvent): boolean {
  const changed = Object.assign(one, { round: 7 });
  return !encodeEvent(changed).includes('"round":7');
}

describe("an event's JSON", () => {
  it("is made once, seen by no copy or comparison, and again after it was forgotten", () => {
    const one = event(1);
    const json = encodeEvent(one);
    expect(json).to.equal(JSON.stringify(one));
    expect([one, { ...one }]).to.deep.equal([event(1), event(1)]);
    forgetEncoding(one);
    forgetEncoding(one);
    expect(encodedSize(one)).to.equal(json.length);
    expect(encodeEvent(one)).to.equal(json);
    expect(isKept(one)).to.equal(true);
    forgetEncoding(one);
    expect(isKept(one)).to.equal(false);
  });

  it("counts as the text until there is one", () => {
    const one = event(1, "four");
    forgetEncoding(one);
    expect(encodedSize(one)).to.equal(4);
    expect(encodedSize(one)).to.be.lessThan(encodeEvent(one).length);
  });

  it("is kept in memory for a run's last append only", async () => {
    const journal = new MemoryJournal({ clock: systemClock, keep: 10, lease: 1_000 });
    const request = { agent: "a", input: { text: "hi" } };
    const { claim } = await journal.enqueue({
      run: "run_1",
      tenant: "default",
      session: undefined,
      request,
      claimFor: "w",
    });
    if (claim === undefined) throw new Error("not claimed");
    const { ownership } = claim;
    const append = (...events: RunEvent[]) => {
      journal.append([{ ownership, events }]);
      for (const each of events) encodeEvent(each);
      return events;
    };
    const first = append(event(1), event(2));
    const second = append(event(3));
    const third = append(event(4), event(5));
    expect([...first, ...second].map(isKept)).to.deep.equal([false, false, false]);
    expect(third.map(isKept)).to.deep.equal([true, true]);
  });
});
