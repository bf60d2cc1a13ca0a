import { createHash } from "node:crypto";
import { expect } from "chai";
import { textMessage } from "../../src/core/model/messages.ts";
import type { RunInput } from "../../src/core/run/event-fields.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { type Bridge, bridge } from "../bridge.ts";

const text = `Grüße, 世界 🐻. ${"lorem ipsum ".repeat(20_000)}the end`;
const hash = createHash("sha256").update(text).digest("hex");

describe("large texts stand beside the journal", () => {
  let between: Bridge;
  before(async () => {
    between = await bridge("anthropic");
  });
  after(async () => {
    expect([...between.service.host.memory.tenants]).to.deep.equal([]);
    await between.close();
  });

  const run = async (input: RunInput, more: object = {}): Promise<{ run: string; events: RunEvent[] }> => {
    const { runs } = between.service.host;
    const started = await runs.start({ agent: "m", input, ...more });
    const events: RunEvent[] = [];
    for await (const batch of runs.follow(started.run)) events.push(...batch);
    return { run: started.run, events };
  };
  const lastBody = () => JSON.stringify(between.bodies().at(-1));
  const encoded = JSON.stringify(text).slice(1, -1);

  for (const [what, input] of [
    ["the input's text", { text }],
    ["a message", { messages: [textMessage("user", text)] }],
    ["a text after messages", { messages: [textMessage("user", "first"), textMessage("assistant", "ok")], text }],
  ] as const) {
    it(`by hash in the request and the events, whole in front of the model: ${what}`, async () => {
      const { run: id, events } = await run(input as RunInput);
      for (const event of events) expect(JSON.stringify(event).length).to.be.below(8_000);
      const { request } = await between.service.host.runs.get(id);
      expect(JSON.stringify(request)).to.include(hash).and.include("Grüße, 世界");
      expect(JSON.stringify(request).length).to.be.below(8_000);
      expect(lastBody()).to.include(encoded);
      const response = await fetch(`${between.url}/v1/runs/${id}/content/${hash}`);
      expect(await response.text()).to.equal(text);
    });
  }

  it("of a client's instructions too", async () => {
    const { run: id } = await run({ text: "hi" }, { instructions: textMessage("system", text) });
    expect(JSON.stringify((await between.service.host.runs.get(id)).request).length).to.be.below(8_000);
    expect(lastBody()).to.include(encoded);
  });

  it("to the later turns of a session, and as the session's messages", async () => {
    await run({ text }, { session: "s" });
    await run({ text: "and now?" }, { session: "s" });
    expect(lastBody()).to.include(encoded).and.include("and now?");
    const messages = await between.service.host.messages({ tenant: "default", session: "s" });
    expect(JSON.stringify(messages[0])).to.include(encoded);
  });

  it("and a fork refers to them", async () => {
    const { run: id } = await run({ text });
    const { runs, journal } = between.service.host;
    const { run: forked } = await runs.fork(id, { after: 1 });
    const events: RunEvent[] = [];
    for await (const batch of runs.follow(forked)) events.push(...batch);
    expect(events.at(-1)?.type).to.equal("run.finished");
    expect(JSON.stringify(events).length).to.be.below(20_000);
    expect(lastBody()).to.include(encoded);
    await runs.remove(id);
    expect(await journal.blobs?.of(forked)).to.deep.equal([hash]);
    expect(Buffer.from(await runs.content(forked, hash)).toString()).to.equal(text);
  });

  it("with a mark in place of half a surrogate pair, which has no bytes", async () => {
    const { run: id, events } = await run({ text: `${text}\ud800` });
    const [started] = events;
    const part = started?.type === "run.started" ? JSON.stringify(started.input) : "";
    const { 1: kept = "" } = /"hash":"(\w+)"/.exec(part) ?? [];
    const content = await between.service.host.runs.content(id, kept);
    expect(Buffer.from(content).toString()).to.equal(`${text}\ufffd`);
  });

  it("and no client names one by its hash", async () => {
    const part = { type: "text" as const, text: "x", hash, size: 5 };
    const { runs } = between.service.host;
    for (const input of [{ messages: [{ role: "user" as const, parts: [part] }] }]) {
      expect(await runs.start({ agent: "m", input }).catch((error) => error)).to.include({ code: "invalid_input" });
      const { run: id } = await run({ text: "hi" });
      expect(await runs.fork(id, { after: 1, input }).catch((error) => error)).to.include({ code: "invalid_input" });
    }
  });

  it("and are recognised in a request that is repeated under its Idempotency-Key", async () => {
    const post = async (input: string) => {
      const headers = { "content-type": "application/json", "idempotency-key": "k" };
      const response = await fetch(`${between.url}/v1/runs`, {
        method: "POST",
        headers,
        body: JSON.stringify({ agent: "m", input }),
      });
      await response.text();
      return response.status;
    };
    expect([await post(text), await post(text), await post(`${text}!`)]).to.deep.equal([200, 200, 409]);
  });
});
