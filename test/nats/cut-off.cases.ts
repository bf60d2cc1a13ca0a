import { expect } from "chai";
import type { NatsJournal } from "../../plugins/nats/journal.ts";
import { Store } from "../../plugins/nats/store.ts";
import { claimed, finish } from "../../src/testing/journal-bench.ts";
import { NatsCluster } from "../plugins/nats/cluster.ts";
import { freshSpace, openJournal } from "../plugins/nats/open.ts";

const wire = { round: 1, attempt: 1, wire: "openai-chat", bytes: Buffer.from("data: secret\n\n") };

describe("nats: what was cut off", () => {
  let cluster: NatsCluster;
  let journal: NatsJournal;
  before(async () => {
    cluster = await NatsCluster.start();
    journal = await openJournal(cluster, freshSpace());
    await journal.ping();
  });
  after(async () => {
    await journal?.close();
    await cluster?.stop();
  });

  /** Everything the work asks for after so many purges is as if its process had been killed. */
  async function cut(purges: number, work: () => Promise<unknown>): Promise<boolean> {
    const { api, put, send, write } = Store.prototype;
    let left = purges;
    const killed = async () => {
      throw new Error("killed");
    };
    Store.prototype.api = async function <T>(this: Store, ...given: Parameters<Store["api"]>): Promise<T> {
      if (given[1].startsWith("STREAM.PURGE.") && left-- <= 0) {
        Object.assign(Store.prototype, { put: killed, send: killed, write: killed });
        return await killed();
      }
      return await (api as (...given: unknown[]) => Promise<T>).apply(this, given);
    };
    try {
      return await work().then(
        () => false,
        () => true,
      );
    } finally {
      Object.assign(Store.prototype, { api, put, send, write });
    }
  }

  it("a removal, at any of its steps, leaves the run for the next one, and nothing without it", async () => {
    let wasCut = true;
    for (let purges = 0; wasCut; purges++) {
      const { ownership } = await claimed(journal);
      const { run } = ownership;
      await journal.keepWire(run, wire);
      await journal.blobs.put(run, "a".repeat(64), Buffer.alloc(20_000));
      await finish(journal, ownership);
      wasCut = await cut(purges, () => journal.prune({ runs: [run] }));
      const isThere = (await journal.get(run)) !== undefined;
      expect(isThere, `after ${purges} purges`).to.equal(wasCut);
      if (wasCut) expect(await journal.prune({ runs: [run] })).to.equal(1);
      expect(await journal.wire(run), `after ${purges} purges`).to.deep.equal([]);
      expect(await journal.blobs.of(run), `after ${purges} purges`).to.deep.equal([]);
    }
  });

  it("an import, done again, has every wire once", async () => {
    const recording = {
      run: "run_imported",
      tenant: "t",
      session: undefined,
      request: { agent: "a", input: { text: "hi" } },
      signals: [],
      wires: [wire, { ...wire, round: 2 }],
      events: [],
    };
    const { send } = Store.prototype;
    let wires = recording.wires.length;
    Store.prototype.send = function (this: Store, ...given) {
      return wires-- > 0 ? send.apply(this, given) : Promise.reject(new Error("killed"));
    };
    const first = await journal.restore(recording).catch((thrown: Error) => thrown.message);
    Store.prototype.send = send;
    expect([first, await journal.get(recording.run)]).to.deep.equal(["killed", undefined]);
    await journal.restore(recording);
    const kept = (await journal.wire(recording.run)).map(({ round, bytes }) => [round, Buffer.from(bytes).toString()]);
    expect(kept).to.deep.equal(recording.wires.map(({ round, bytes }) => [round, bytes.toString()]));
  });
});
