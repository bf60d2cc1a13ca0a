import { expect } from "chai";
import { Appends, type AppendsOptions } from "../../../plugins/nats/appends.ts";
import { Item } from "../../../plugins/nats/item.ts";
import type { Record } from "../../../plugins/nats/records.ts";
import type { Tail } from "../../../plugins/nats/standing.ts";
import type { Ownership } from "../../../src/core/journal/journal.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";

const events = [1, 2].map((seq): RunEvent => ({ type: "text.delta", run: "r", seq, at: 1, round: 1, text: `${seq}` }));
const ownership = (epoch: number): Ownership => ({ run: "r", session: undefined, epoch, worker: "w", head: 0 });
const body = new Item({ ownership: ownership(1), events }).text;

/** The journal as it is after a refused write: the run's last message, and what stands where the events would. */
function settled(epoch: number, tail: Partial<Tail>, records: readonly Record[]): Promise<ReadonlySet<Ownership>> {
  const last: Tail = {
    epoch: 2,
    head: 2,
    state: "running",
    signals: 0,
    cancelled: false,
    outcome: undefined,
    worker: "w",
    asking: 0,
    wake: 0,
    seq: 9,
    time: 0,
    ...tail,
  };
  const options = {
    tails: { get: () => undefined, set: () => {}, delete: () => {}, read: async () => last },
    records: { read: async () => records },
    store: { timeout: 100 },
    replicas: 1,
  } as unknown as AppendsOptions; // nothing else is asked when the item does not fit
  return new Appends(options).append([{ ownership: ownership(epoch), events }]);
}

describe("nats: an append that was refused", () => {
  const there = (epoch: number): Record => ({ first: 1, head: 2, epoch, body });

  it("is its own lost response when the same events stand there by the same epoch", async () => {
    expect((await settled(1, {}, [there(1)])).size).to.equal(0);
    expect((await settled(2, { head: 5 }, [there(2)])).size).to.equal(0);
  });

  it("is fenced when another epoch wrote them, word for word", async () => {
    expect((await settled(1, {}, [there(2)])).size).to.equal(1);
    expect((await settled(3, {}, [there(2)])).size).to.equal(1);
    const [first = "", second = ""] = body.split("\n");
    const mixed = [
      { first: 1, head: 1, epoch: 1, body: first },
      { first: 2, head: 2, epoch: 2, body: second },
    ];
    expect((await settled(1, {}, mixed)).size).to.equal(1);
  });

  it("is fenced when other events stand there, or they begin elsewhere, or there are fewer", async () => {
    expect((await settled(1, {}, [{ ...there(1), body: body.replace('"2"', '"3"') }])).size).to.equal(1);
    expect((await settled(1, {}, [{ ...there(1), first: 2 }])).size).to.equal(1);
    expect((await settled(1, { head: 1 }, [there(1)])).size).to.equal(1);
  });
});
