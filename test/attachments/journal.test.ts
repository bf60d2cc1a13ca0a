import { createHash, randomBytes } from "node:crypto";
import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { Recordings } from "../../src/host/recordings/recordings.ts";
import { type Bridge, bridge } from "../bridge.ts";
import { memory } from "../journal/setup.ts";

/** Half a megabyte that no compression makes small. */
const bytes = randomBytes(512 * 1024);
const data = bytes.toString("base64");
const hash = createHash("sha256").update(bytes).digest("hex");
const document = { type: "file" as const, mediaType: "application/pdf", data, name: "big.pdf" };

describe("large attachments stand beside the journal", () => {
  let between: Bridge;
  before(async () => {
    between = await bridge("anthropic");
  });
  after(() => between.close());

  const run = async (session?: string, parts: object[] = [document]): Promise<{ run: string; events: RunEvent[] }> => {
    const { runs } = between.service.host;
    const messages = [
      { role: "user" as const, parts: [{ type: "text" as const, text: "read" }, ...(parts as never[])] },
    ];
    const started = await runs.start({
      agent: "m",
      input: { messages },
      ...(session === undefined ? {} : { session }),
    });
    const events: RunEvent[] = [];
    for await (const batch of runs.follow(started.run)) events.push(...batch);
    return { run: started.run, events };
  };
  const lastBody = () => JSON.stringify(between.bodies().at(-1));

  it("by hash in the request and the events, whole in front of the model", async () => {
    const { run: id, events } = await run();
    for (const event of events) expect(JSON.stringify(event).length).to.be.below(4_000);
    const row = await between.service.host.runs.get(id);
    expect(JSON.stringify(row.request)).to.include(hash).and.not.include(data.slice(0, 100));
    expect(lastBody()).to.include(data);
  });

  it("once, however many runs send them, and to the later turns of a session", async () => {
    await run("s");
    const { events } = await run("s", []);
    expect(JSON.stringify(events)).to.not.include(hash);
    expect(lastBody(), "the second turn, without the document in its input").to.include(data);
  });

  it("small ones stay where they are", async () => {
    const { events } = await run(undefined, [{ ...document, data: "AAAA" }]);
    expect(JSON.stringify(events[0])).to.include('"data":"AAAA"');
  });

  it("and are given out by run and hash, to nobody for another run's", async () => {
    const [one, other] = [await run(), await run(undefined, [])];
    const at = (id: string) => fetch(`${between.url}/v1/runs/${id}/content/${hash}`);
    const found = await at(one.run);
    expect(Buffer.from(await found.arrayBuffer()).equals(bytes)).to.equal(true);
    expect(found.headers.get("content-disposition")).to.equal("attachment");
    expect((await at(other.run)).status).to.equal(404);
  });

  it("and are recognised in a request that is repeated under its Idempotency-Key", async () => {
    const post = (content: string) =>
      fetch(`${between.url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "once", prefer: "respond-async" },
        body: JSON.stringify({
          agent: "m",
          input: { messages: [{ role: "user", parts: [{ ...document, data: content }] }] },
        }),
      });
    const [first, again] = [await post(data), await post(data)];
    expect([first.status, again.status]).to.deep.equal([202, 202]);
    expect(await again.json()).to.deep.equal(await first.json());
    expect((await post(randomBytes(512 * 1024).toString("base64"))).status).to.equal(409);
  });

  it("a client cannot name one by its hash", async () => {
    const { data: _, ...named } = document;
    const thrown = await run(undefined, [{ ...named, hash }]).catch((error) => error);
    expect(thrown).to.include({ code: "invalid_input" });
  });

  it("travel with an exported run, and damage is found on the way in", async () => {
    const { run: id } = await run();
    let text = "";
    for await (const line of new Recordings(between.service.host.journal).export(id)) text += line;
    const elsewhere = memory();
    await new Recordings(elsewhere).import(text);
    expect(Buffer.from((await elsewhere.blobs?.get(hash)) ?? []).equals(bytes)).to.equal(true);
    const damaged = text.replace(data.slice(0, 8), "AAAAAAAA");
    const thrown = await new Recordings(memory()).import(damaged).catch((error) => error);
    expect(thrown).to.include({ code: "invalid_input" });
    expect(thrown.message).to.include("damaged");
  });
});
