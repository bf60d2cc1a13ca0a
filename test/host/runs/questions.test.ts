import { expect } from "chai";
import { isCode } from "../../../src/core/errors/codes.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { askedAbout, openQuestions } from "../../../src/host/runs/approval-questions.ts";
import { checkSignal } from "../../../src/host/runs/check-signal.ts";
import { Committer } from "../../../src/journal/committer.ts";
import { claimed, memory } from "../../journal/setup.ts";

const ask = (call: string) => ({
  type: "approval.requested" as const,
  round: 1,
  call,
  name: "pay",
  arguments: {},
  until: 9,
});
const answer = (call: string) => ({ type: "approval.resolved" as const, round: 1, call, approved: true });

async function journalOf(...bodies: Parameters<ReturnType<Committer["openLog"]>["write"]>[0][]) {
  const journal = memory();
  const { ownership } = await claimed(journal);
  const log = new Committer({ journal }).openLog(ownership);
  for (let n = 0; n < 1_500; n++) log.write({ type: "text.delta", round: 1, text: "x" });
  for (const body of bodies) log.write(body);
  for (let n = 0; n < 1_500; n++) log.write({ type: "text.delta", round: 1, text: "x" });
  await log.flush();
  const row = await journal.get(ownership.run);
  if (row === undefined) throw new Error("no run");
  return { journal, run: ownership.run, row };
}

describe("questions of a run", () => {
  it("counts how often a run has asked about a call, and says when all is answered", async () => {
    const { journal, run } = await journalOf(ask("a"), ask("b"), answer("a"), ask("a"), answer("b"));
    const about = await askedAbout(journal, run, "a");
    expect(about).to.include({ count: 2, answered: false });
    expect(about.asked).to.include({ call: "a", name: "pay" });
    expect(await askedAbout(journal, run, "b")).to.include({ count: 1, answered: true });
    const thrown = await askedAbout(journal, run, "c").catch((error) => error);
    expect(thrown).to.include({ code: "not_found" });
    expect(thrown.message).to.contain('no call "c"; it waits for: a');
  });

  it("finds the open ones from the end of a long run, oldest first", async () => {
    const { journal, row } = await journalOf(ask("a"), ask("b"), answer("a"), ask("a"), ask("c"), answer("c"));
    expect(row.asking).to.equal(2);
    const open = await openQuestions(journal, row);
    expect(open.map(({ call, name, until }) => [call, name, until])).to.deep.equal([
      ["b", "pay", 9],
      ["a", "pay", 9],
    ]);
  });
});

describe("a run that waits", () => {
  it("has its questions read from its last events, not from its history", async () => {
    const journal = memory();
    const { ownership } = await claimed(journal);
    const log = new Committer({ journal }).openLog(ownership);
    for (let n = 0; n < 1_000; n++) log.write({ type: "text.delta", round: 1, text: "x" });
    log.write(ask("a"));
    await log.flush();
    let read = 0;
    const counting = new Proxy(journal, {
      get: (target, name) =>
        name !== "read"
          ? Reflect.get(target, name, target)
          : async (run: string, after: number, limit: number) => {
              const events = await target.read(run, after, limit);
              read += events.length;
              return events;
            },
    });
    const row = await journal.get(ownership.run);
    expect((await openQuestions(counting, row ?? expect.fail())).map(({ call }) => call)).to.deep.equal(["a"]);
    expect(read).to.be.below(20);
  });
});

describe("signals", () => {
  for (const [what, kind, body, says] of [
    ["a kind that is none", "foo", { approved: true }, '"foo" is not a signal; the signals are: cancel, approve, '],
    ["an approval without its call", "approve", { approved: true }, "approve: call:"],
    ["an approval that is no boolean", "approve", { call: "a", approved: "yes" }, "approve: approved:"],
    ["a reason that is no text", "cancel", { reason: { deep: 1 } }, "cancel: reason:"],
    ["a message without text", "message", { text: 7 }, "message: text:"],
    ["a body that is none", "message", 7, "message: body:"],
    ["a key that is none", "cancel", { raeson: "x" }, "raeson"],
  ] as const) {
    it(`${what} is invalid_input and says where`, () => {
      try {
        checkSignal(kind as "cancel", body);
        expect.fail("it was taken");
      } catch (thrown) {
        if (!VenturiError.isInstance(thrown)) throw thrown;
        expect(isCode(thrown.code) && thrown.code).to.equal("invalid_input");
        expect(thrown.message).to.contain(says);
      }
    });
  }
});
