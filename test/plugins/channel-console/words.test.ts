import { expect } from "chai";
import { foldAll } from "../../../plugins/channel-console/web/fold/fold.ts";
import { editedOf } from "../../../plugins/channel-console/web/fold/view.ts";
import { plain } from "../../../plugins/channel-console/web/text/words.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";

describe("the console's words", () => {
  it("what two rounds said stands apart in a list, and names with a dot stay whole", () => {
    expect(plain("One moment.Order **A-17** is on its way.")).to.equal("One moment. Order A-17 is on its way.");
    expect(plain("I ask the desk:The desk says yes!\n\nDone.")).to.equal("I ask the desk: The desk says yes! Done.");
    for (const same of ["Node.JS and a.B.c", "https://x.y/z?a=b", "3.5 s", "U.S.A", "", "é.É", "a.", ".B"]) {
      expect(plain(same)).to.equal(same);
    }
  });

  it("arguments that come back as they were asked are no edit, in whatever order", () => {
    const asked = { order: "A-17", amount: 240, lines: [{ id: 1, note: null }] };
    const edited = (given: Readonly<Record<string, unknown>> | undefined) => {
      const base = { run: "run_1", at: 1, round: 1, call: "call_1" };
      const events = [
        { ...base, seq: 1, type: "tool_call.started", name: "refund", index: 0 },
        { ...base, seq: 2, type: "tool_call.ready", name: "refund", arguments: asked },
        { ...base, seq: 3, type: "approval.requested", name: "refund", arguments: asked, until: 9 },
        {
          ...base,
          seq: 4,
          type: "approval.resolved",
          approved: true,
          ...(given === undefined ? {} : { arguments: given }),
        },
      ] as unknown as RunEvent[]; // as a journal has them
      const call = foldAll("run_1", events).calls.get("call_1");
      return call && editedOf(call);
    };
    expect(edited(undefined)).to.equal(undefined);
    expect(edited({ lines: [{ note: null, id: 1 }], amount: 240, order: "A-17" })).to.equal(undefined);
    for (const other of [
      { ...asked, amount: 241 },
      { ...asked, more: 1 },
      { order: "A-17", amount: 240 },
      { ...asked, lines: [] },
      { ...asked, lines: { 0: { id: 1, note: null } } },
      { ...asked, lines: [{ id: 1 }] },
    ]) {
      expect(edited(other)).to.deep.equal(other);
    }
  });
});
