import { createHash } from "node:crypto";
import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Journal, Recording } from "../../src/core/journal/journal.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { eventsOf, exportRun } from "../../src/journal/export.ts";
import { importRun } from "../../src/journal/import.ts";
import { replay } from "../../src/journal/replay.ts";
import { VirtualClock } from "../../src/testing/clock.ts";
import { claimed, put } from "../../src/testing/journal-bench.ts";
import { delta, finished, memory, started } from "./setup.ts";

const at = (seq: number, body: object, time = seq): RunEvent => ({ ...body, run: "r", seq, at: time }) as RunEvent;
const whole = [at(1, started()), at(2, delta("é\u2028")), at(3, finished("é\u2028"))];
const recording = (more: Partial<Recording> = {}): Recording => ({
  run: "r",
  tenant: "default",
  session: undefined,
  request: { agent: "a", input: { text: "hi" } },
  signals: [],
  wires: [],
  events: whole,
  ...more,
});
const bytes = Buffer.from([0, 255, 10, 13]);
const hash = createHash("sha256").update(bytes).digest("hex");

async function joined(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line;
  return text;
}
const exported = (journal: Journal, run = "r"): Promise<string> => joined(exportRun(journal, run));

const heading = { venturi: "run", version: 1, run: "r", createdAt: 1, request: { agent: "a", input: {} } };
const file = (...lines: readonly unknown[]) =>
  lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
const refusal = (text: string, journal: Journal = memory()): Promise<VenturiError> =>
  importRun(journal, text).then(
    () => expect.fail("it was imported"),
    (thrown) => thrown,
  );

describe("an exported run", () => {
  it("comes back the same in another journal: request, signals, wires, blobs, session and events", async () => {
    const here = memory();
    const signals = [
      { id: "s1", kind: "message" as const, body: { text: "more" } },
      { id: "s2", kind: "cancel" as const, body: {} },
    ];
    await here.restore(
      recording({
        tenant: "acme",
        session: "talk",
        signals,
        wires: [{ round: 2, attempt: 1, wire: "openai", bytes }],
        request: { agent: "a", input: { text: "hi" }, metadata: { z: 1, a: [2] } },
      }),
    );
    await here.blobs?.put("r", hash, bytes);
    const text = await exported(here);
    const there = memory();
    expect(await importRun(there, text)).to.deep.equal({ run: "r", events: 3, ended: true });
    expect(await there.read("r", 0, 10)).to.deep.equal(whole);
    const [{ createdAt: _here, updatedAt: _then, ...before }, { createdAt: _there, updatedAt: _now, ...after }] = [
      (await here.get("r")) ?? expect.fail(),
      (await there.get("r")) ?? expect.fail(),
    ];
    expect(after).to.deep.equal(before);
    expect(after).to.include({ tenant: "acme", session: "talk", state: "done", outcome: "finished" });
    expect(await there.signals("r", 0)).to.deep.equal(await here.signals("r", 0));
    expect(await there.wire("r")).to.deep.equal(await here.wire("r"));
    expect(await there.blobs?.get(hash)).to.deep.equal(Uint8Array.from(bytes));
    expect(await there.blobs?.of("r")).to.deep.equal([hash]);
    // Times of import aside, an export of the import is the same file.
    const untimed = (one: string) => one.replace(/"createdAt":\d+/, "");
    expect(untimed(await exported(there))).to.equal(untimed(text));
  });

  it("gets another name on request, in its events too", async () => {
    const here = memory();
    await here.restore(recording());
    expect(await importRun(here, await exported(here), "copy")).to.deep.equal({ run: "copy", events: 3, ended: true });
    expect((await here.read("copy", 0, 10)).map(({ run }) => run)).to.deep.equal(["copy", "copy", "copy"]);
  });

  it("has one line for each part and leaves out the session it is not in", async () => {
    const here = memory();
    await here.restore(recording());
    const lines = (await exported(here)).split("\n");
    expect(lines.pop()).to.equal("");
    const [first, ...rest] = lines.map((line) => JSON.parse(line));
    expect(Object.keys(first)).to.deep.equal(["venturi", "version", "run", "tenant", "createdAt", "request"]);
    expect(first).to.include({ venturi: "run", version: 1, run: "r", tenant: "default" });
    expect(rest).to.deep.equal(whole.map((event) => ({ event })));
  });

  it("is complete however many pages it takes", async () => {
    for (const count of [499, 500, 501, 1_000]) {
      const journal = memory();
      const events = Array.from({ length: count }, (_, index) => at(index + 1, delta("x")));
      await journal.restore(recording({ events }));
      const pages: number[] = [];
      for await (const page of eventsOf(journal, "r")) pages.push(page.length);
      expect(pages).to.deep.equal([...Array(Math.floor(count / 500)).fill(500), ...(count % 500 ? [count % 500] : [])]);
    }
  });

  it("ends where it was when the export began, so that every signal it has seen is in the file", async () => {
    const journal = memory();
    const { ownership } = await claimed(journal);
    const { run } = ownership;
    await put(journal, ownership, [delta("a")]);
    await journal.signal(run, { id: "s1", kind: "message", body: {} });
    const lines = exportRun(journal, run);
    await lines.next(); // The heading.
    const signals = [await lines.next()].map(({ value }) => JSON.parse(value ?? "").signal.id);
    await journal.signal(run, { id: "s2", kind: "message", body: {} });
    await put(journal, ownership, [delta("b")]);
    const rest = (await joined(lines)).trim().split("\n");
    expect([signals, rest.map((line) => JSON.parse(line).event.text)]).to.deep.equal([["s1"], ["a"]]);
  });

  it("that is removed meanwhile is not exported in part without a word", async () => {
    const journal = memory();
    await journal.restore(recording());
    const lines = exportRun(journal, "r");
    await lines.next();
    await journal.prune({ runs: ["r"] });
    const error = await joined(lines).catch((thrown) => thrown);
    expect(error).to.include({ op: "journal.export", code: "not_found" });
    expect(error.message).to.include("was removed while it was exported");
  });

  it("is exported without what the journal does not keep", async () => {
    const journal = memory();
    await journal.restore(recording({ wires: [{ round: 1, attempt: 1, wire: "openai", bytes }] }));
    const { run, tenant, session, request } = recording();
    const plain = {
      get: async () => ({ run, tenant, session, request, createdAt: 1 }),
      signals: async () => [],
      read: journal.read.bind(journal),
    } as unknown as Journal; // all that an export needs
    expect(await exported(plain)).not.to.contain('"wire"');
    expect(await exported(journal)).to.contain('"wire"');
  });

  it("does not exist under a wrong name", async () => {
    const failure = await exported(memory(), "nobody").catch((thrown) => thrown);
    expect(failure).to.include({ op: "journal.export", code: "not_found" });
  });
});

describe("an import", () => {
  it("of a run exported before its end says that it has not ended, and the run waits", async () => {
    const journal = memory();
    const [first] = whole;
    expect(await importRun(journal, file(heading, { event: first }))).to.deep.equal({
      run: "r",
      events: 1,
      ended: false,
    });
    expect(await journal.get("r")).to.include({ state: "waiting", tenant: "default" });
    expect(await importRun(memory(), file(heading))).to.deep.equal({ run: "r", events: 0, ended: false });
  });

  it("skips empty lines", async () => {
    expect(await importRun(memory(), `\n${file(heading, "  ", { event: whole[0] })}\n\n`)).to.include({ events: 1 });
  });

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["nothing", "", /^line 1 is no JSON/],
    ["another file", file({ hello: 1 }), /^line 1 is not part of an exported run \(venturi: /],
    ["a later version", file({ ...heading, version: 2 }), /^line 1 .*\(version: /],
    ["a list", file([]), /^line 1 is not part of an exported run \(the whole line: /],
    ["text after the heading", file(heading, "hello"), /^line 2 is no JSON/],
    ["an unknown part", file(heading, { events: [] }), /^line 2 is not part of an exported run/],
    ["an unknown field", file({ ...heading, more: 1 }), /^line 1 is not part of an exported run/],
    ["a nameless run", file({ ...heading, run: "" }), /^line 1 .*\(run: /],
    ["a nameless tenant", file({ ...heading, tenant: "" }), /^line 1 .*\(tenant: /],
    ["a request without an agent", file({ ...heading, request: { input: {} } }), /^line 1 .*\(request\.agent: /],
    ["an unknown signal", file(heading, { signal: { number: 1, id: "s", kind: "hm", body: {} } }), /^line 2 /],
    ["an unknown event", file(heading, { event: { type: "new", run: "r", seq: 1, at: 1 } }), /^line 2 /],
    ["a gap", file(heading, { event: whole[0] }, { event: whole[2] }), /^event 3 \(run.finished\) stands in place 2$/],
    ["a repetition", file(heading, { event: whole[0] }, { event: whole[0] }), /^event 1 .* in place 2$/],
    ["an early end", file(heading, { event: at(1, finished()) }, { event: at(2, delta("x")) }), /^event 1 .* place 1$/],
    ["a damaged blob", file(heading, { blob: { hash, bytes: "AAAA" } }), /^the content \w+ is damaged/],
  ];
  for (const [what, text, message] of cases) {
    it(`is refused before anything is stored: ${what}`, async () => {
      const journal = memory();
      const failure = await refusal(text, journal);
      expect(failure).to.be.instanceOf(VenturiError);
      expect(failure).to.include({ op: "journal.import", code: "invalid_input" });
      expect(failure.message).to.match(message);
      expect(await journal.get("r")).to.equal(undefined);
      expect(await journal.blobs?.of("r")).to.deep.equal([]);
    });
  }

  it("is refused by a journal that has no place for its blobs", async () => {
    const journal = Object.create(memory(), { blobs: { value: undefined } }) as Journal;
    const failure = await refusal(file(heading, { blob: { hash, bytes: bytes.toString("base64") } }), journal);
    expect(failure).to.include({ code: "invalid_input" });
    expect(failure.message).to.match(/this journal cannot keep/);
  });

  it("keeps the order of keys as it was written", async () => {
    const journal = memory();
    const event = { seq: 1, at: 1, run: "r", input: {}, type: "run.started", agent: "a" };
    await importRun(journal, file(heading, { event }));
    expect(Object.keys((await journal.read("r", 0, 1))[0] ?? {})).to.deep.equal(Object.keys(event));
  });
});

describe("a replay", () => {
  const paced = [at(1, started(), 1_000), at(2, delta("a"), 1_100), at(3, delta("b"), 1_400), at(4, finished(), 1_400)];

  async function seen(speed: number, advances: readonly number[]): Promise<number[]> {
    const clock = new VirtualClock();
    const journal = memory();
    await journal.restore(recording({ events: paced }));
    const events: RunEvent[] = [];
    const counts: number[] = [];
    const reading = (async () => {
      for await (const event of replay(journal, "r", { clock, speed })) events.push(event);
    })();
    for (const ms of advances) {
      await clock.advance(ms);
      counts.push(events.length);
    }
    await reading;
    expect(events).to.deep.equal(paced);
    return counts;
  }

  it("keeps the distances between events, divided by the speed", async () => {
    expect(await seen(1, [0, 99, 1, 299, 1])).to.deep.equal([1, 1, 2, 2, 4]);
    expect(await seen(2, [0, 49, 1, 149, 1])).to.deep.equal([1, 1, 2, 2, 4]);
    expect(await seen(Number.POSITIVE_INFINITY, [0])).to.deep.equal([4]);
  });

  it("ends with the signal's reason", async () => {
    const clock = new VirtualClock();
    const journal = memory();
    await journal.restore(recording({ events: paced }));
    const controller = new AbortController();
    const events: RunEvent[] = [];
    const reading = (async () => {
      for await (const event of replay(journal, "r", { clock, speed: 1, signal: controller.signal }))
        events.push(event);
    })();
    await clock.advance(0);
    controller.abort(new Error("enough"));
    expect(await reading.catch((thrown) => thrown)).to.have.property("message", "enough");
    expect(events).to.have.length(1);
  });
});
