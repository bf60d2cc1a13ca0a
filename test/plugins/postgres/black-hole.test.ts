import { expect } from "chai";
import type { Journal } from "../../../src/core/journal/journal.ts";
import { Followers } from "../../../src/journal/followers.ts";
import { claimed, put, text } from "../../../src/testing/journal-bench.ts";
import { Wire } from "../../chaos/wire.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

/** Packets vanish and nobody says so: only timeouts help. */
describe("postgres behind a wire that swallows everything", () => {
  let wire: Wire;
  let schema: string;

  beforeEach(async () => {
    wire = await Wire.to((await sharedCluster()).port);
    schema = freshSchema();
  });

  afterEach(() => wire.close());

  const throughWire = async () =>
    openJournal((await sharedCluster()).urlAt(wire.port), schema, { timeout: 300, connectTimeout: 300 });
  const direct = async () => openJournal((await sharedCluster()).url, schema);

  it("connecting is given up after the timeout, and works when the wire does", async () => {
    wire.swallow();
    const journal = await throughWire();
    const error = await journal.ping().catch((thrown) => thrown);
    expect(error).to.include({ op: "journal.ping", code: "journal_failed" });
    wire.pass();
    await reached(journal);
    await journal.close();
  });

  it("where only the listening connection is deaf, followers get their events by the poll", async () => {
    const journal = await direct();
    const { ownership } = await claimed(journal);
    const remote = await throughWire();
    await new Promise<void>((resolve) => {
      remote.onHint(() => resolve());
    });
    wire.swallow();
    wire.pass();
    const seen = new Followers({ journal: remote }).follow(ownership.run)[Symbol.asyncIterator]();
    await put(journal, ownership, [text("a")]);
    const { value } = await seen.next();
    expect(value?.map((event) => event.seq)).to.deep.equal([1]);
    await seen.return?.();
    await remote.close();
    await journal.close();
  });

  it("when the others are found dead, the listening connection is looked at, too, and replaced", async () => {
    const journal = await throughWire();
    await reached(journal);
    let heard = () => {};
    journal.onHint(() => heard());
    const listening = () => new Promise<void>((resolve) => (heard = resolve));
    await listening();
    const again = listening();
    wire.swallow();
    await journal.ping().catch(() => {});
    wire.pass();
    await again;
    await journal.close();
  });

  it("closing does not wait for an answer", async () => {
    const journal = await throughWire();
    await reached(journal);
    await new Promise<void>((resolve) => {
      journal.onHint(() => resolve());
    });
    wire.swallow();
    await journal.close();
  });
});

/** The timeouts are short here, so a busy machine may miss some. */
async function reached(journal: Pick<Journal, "ping">): Promise<void> {
  while (
    !(await journal.ping().then(
      () => true,
      () => false,
    ))
  );
}
