import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { PruneOptions } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { checkNotify } from "../../../src/host/runs/check-notify.ts";
import { piecesOf } from "../../../src/host/runs/content-pieces.ts";
import { existingRun } from "../../../src/host/runs/existing-run.ts";
import { checkBounds, checkSignalBounds, isName } from "../../../src/host/runs/request-bounds.ts";
import { WatchedLog } from "../../../src/host/runs/run-watcher.ts";
import { Sweep } from "../../../src/host/runs/sweep.ts";
import { userOf } from "../../../src/host/runs/user-of.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";
import { claimed, memory } from "../../journal/setup.ts";

const request = (parts: Partial<RunRequest> = {}): RunRequest => ({ agent: "a", input: { text: "hi" }, ...parts });

/** `op code`, or "" when nothing was thrown. */
const errorOf = (action: () => unknown): string => {
  try {
    action();
    return "";
  } catch (thrown) {
    return VenturiError.isInstance(thrown) ? `${thrown.op} ${thrown.code}` : String(thrown);
  }
};

describe("whom a run is for", () => {
  it("is the subject of a token, whatever the client says", () => {
    expect(userOf(request({ metadata: { user: "eve" } }), "jwt:ann")).to.equal("ann");
    expect(userOf(request({ metadata: { user: "eve" } }), "key:jwt:ann")).to.equal("eve");
  });

  it("is what the program with a key says, if that is a name", () => {
    expect(userOf(request({ metadata: { user: "eve" } }), "key")).to.equal("eve");
    expect(userOf(request({ metadata: { user: "e".repeat(500) } }), undefined)?.length).to.be.at.most(129);
    for (const user of ["", 3, {}, null])
      expect(userOf(request({ metadata: { user } as never }), "key")).to.equal(undefined);
    expect(userOf(request(), "key")).to.equal(undefined);
  });
});

describe("names and bounds of a request", () => {
  it("a name has 1 to 256 characters that every engine stores", () => {
    for (const name of ["a", "ä/ b", "n".repeat(256)]) expect(isName(name), name).to.equal(true);
    for (const name of ["", "n".repeat(257), "a\0b", "\ud800"]) expect(isName(name), name).to.equal(false);
    expect(errorOf(() => checkBounds(request({ session: "" }), { metadata: 10 }))).to.equal("run.start invalid_input");
    expect(errorOf(() => checkBounds(request({ session: "s" }), { metadata: 10 }))).to.equal("");
  });

  it("metadata has a size of its own", () => {
    const metadata = { note: "x".repeat(50) };
    expect(errorOf(() => checkBounds(request({ metadata }), { metadata: 40 }))).to.equal("run.start too_large");
    expect(errorOf(() => checkBounds(request({ metadata }), { metadata: 200 }))).to.equal("");
  });

  it("a request brings at most 256 tools, each with a schema of bounded depth", () => {
    const tool = (parameters: Record<string, unknown> = {}) => ({ name: "t", description: "", parameters });
    const bring = (...clientTools: ReturnType<typeof tool>[]) =>
      errorOf(() => checkBounds(request({ clientTools }), { metadata: 10 }));
    expect(bring(...Array.from({ length: 256 }, () => tool()))).to.equal("");
    expect(bring(...Array.from({ length: 257 }, () => tool()))).to.equal("run.start too_large");
    let deep: Record<string, unknown> = {};
    for (let depth = 0; depth < 200; depth++) deep = { items: deep };
    expect(bring(tool(), tool(deep))).to.equal("run.start invalid_input");
    expect(
      errorOf(() => checkBounds(request({ output: { name: "o", schema: { type: 7 } as never } }), { metadata: 10 })),
    ).to.equal("run.start invalid_input");
  });

  it("a signal is bounded, too", () => {
    let deep: Record<string, unknown> = {};
    for (let depth = 0; depth < 500; depth++) deep = { deep };
    expect(errorOf(() => checkSignalBounds({ call: "c", approved: true } as never))).to.equal("");
    expect(errorOf(() => checkSignalBounds(deep as never))).to.equal("run.signal invalid_input");
  });
});

describe("a run's webhook", () => {
  const channels = {
    time: {
      type: "channel-time",
      options: {
        webhooks: {
          ours: { url: "https://ours.test/hook", allowPrivate: [] },
          acme: { hosts: ["*.acme.test"], allowPrivate: [], tenants: ["acme"] },
        },
      },
    },
    http: { type: "channel-http", options: { webhooks: { other: { url: "https://x.test", allowPrivate: [] } } } },
  } as never;
  const notify = (asked: RunRequest["notify"], tenant = "acme") =>
    errorOf(() => checkNotify({ channels }, request(asked === undefined ? {} : { notify: asked }), tenant));
  const refused = "run.start invalid_input";

  it("is one of the tenant's", () => {
    expect(notify(undefined)).to.equal("");
    expect(notify({ webhook: "ours" })).to.equal("");
    expect(notify({ webhook: "ours" }, "globex")).to.equal("");
    expect(notify({ webhook: "acme", url: "https://a.acme.test/x" })).to.equal("");
    expect(notify({ webhook: "acme", url: "https://a.acme.test/x" }, "globex")).to.equal(refused);
    expect(notify({ webhook: "other" })).to.equal(refused);
  });

  it("has a URL: its own, or one of the hosts it allows", () => {
    expect(notify({ webhook: "acme" })).to.equal(refused);
    expect(notify({ webhook: "acme", url: "https://acme.test.evil.test/" })).to.equal(refused);
    expect(notify({ webhook: "acme", url: "no URL" })).to.equal(refused);
    expect(notify({ webhook: "ours", url: "https://ours.test/hook" })).to.equal("");
    expect(notify({ webhook: "ours", url: "https://ours.test/other" })).to.equal(refused);
  });
});

describe("what a run has", () => {
  it("is found by its name; an id that no engine could store is nobody's", async () => {
    const journal = memory();
    const { run } = (await claimed(journal)).ownership;
    expect((await existingRun(journal, run)).run).to.equal(run);
    for (const other of [`${run}x`, "", "a\0b"]) {
      const error = await existingRun(journal, other).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "not_found", op: "run.get" });
    }
  });

  it("does not include content of another run, though its hash is known", async () => {
    const pieces = async function* () {
      yield new Uint8Array([1]);
    };
    const journal = { blobs: { of: async (run: string) => (run === "r1" ? ["h1"] : []) } } as never;
    const content = { pieces: async () => pieces() } as never;
    expect(await piecesOf(journal, content, { run: "r1", hash: "h1" })).to.have.property("next");
    for (const asked of [
      { run: "r2", hash: "h1" },
      { run: "r1", hash: "h2" },
    ]) {
      const error = await piecesOf(journal, content, asked).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: "not_found", op: "run.content" });
    }
  });
});

describe("the log of a watched run", () => {
  it("shows each step as it is written, and no delta", async () => {
    const seen: unknown[] = [];
    let flushed = 0;
    const inner = {
      write: (body: object) => ({ ...body, seq: 1 }),
      flush: async () => {
        flushed += 1;
      },
    };
    const log = new WatchedLog(inner as never, ({ type }) => seen.push(type));
    log.write({ type: "text.delta", round: 1, text: "x" });
    log.write({ type: "run.started", agent: "a", input: { text: "" } });
    await log.step({ type: "round.finished", round: 1, finish: "stop", usage: {} } as never);
    expect([seen, flushed]).to.deep.equal([["run.started", "round.finished"], 1]);
  });
});

describe("content of removed runs", () => {
  const sweep = (prune: () => Promise<number>) => {
    const clock = new VirtualClock();
    const asked: unknown[] = [];
    const warned: unknown[] = [];
    const journal = {
      prune: ({ signal: _, ...options }: PruneOptions) => {
        asked.push(options);
        return prune();
      },
    } as never;
    const log = { ...silentLog, warn: (...line: unknown[]) => void warned.push(line) };
    return { clock, asked, warned, sweep: new Sweep({ journal, clock, log }) };
  };
  const hour = 3_600_000;

  it("is swept past the hour that journals keep it, and again for what was removed since that was planned", async () => {
    const { clock, asked, warned, sweep: swept } = sweep(async () => 0);
    swept.later();
    await clock.advance(hour / 4);
    swept.later();
    await clock.advance(hour / 4);
    swept.later();
    await clock.advance(hour / 2);
    expect(asked).to.deep.equal([]);
    await clock.advance(5 * 60_000);
    expect(asked).to.deep.equal([{ rest: 3 }]);
    await clock.advance(hour / 2);
    expect(asked).to.have.length(2);
    await clock.advance(2 * hour);
    expect(asked).to.have.length(2);
    swept.later();
    await clock.advance(2 * hour);
    expect(asked).to.have.length(3);
    expect([warned, clock.pending]).to.deep.equal([[], 0]);
  });

  it("that an earlier process left is swept soon after the start, and when it is old enough", async () => {
    const { clock, asked, sweep: swept } = sweep(async () => 0);
    swept.begin();
    await clock.advance(1_000);
    expect(asked).to.have.length(1);
    await clock.advance(hour);
    expect(asked).to.have.length(1);
    await clock.advance(hour);
    expect([asked.length, clock.pending]).to.deep.equal([2, 0]);
  });

  it("leaves no timer when its run's removal ends after the service has stopped", async () => {
    const { clock, sweep: swept } = sweep(async () => 0);
    await swept.stop();
    swept.later();
    expect(clock.pending).to.equal(0);
  });

  it("stays when the service stops, or the journal cannot sweep", async () => {
    const stopped = sweep(async () => 0);
    stopped.sweep.later();
    await stopped.sweep.stop();
    await stopped.clock.advance(2 * hour);
    expect(stopped.asked).to.deep.equal([]);
    const broken = sweep(() => Promise.reject(new Error("away")));
    broken.sweep.later();
    await broken.clock.advance(2 * hour);
    expect(broken.warned).to.have.length(1);
  });
});
