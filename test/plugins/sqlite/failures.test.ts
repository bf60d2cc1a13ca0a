import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { Committer } from "../../../src/journal/committer.ts";
import { claimed, finish, put, text } from "../../../src/testing/journal-bench.ts";
import { freshFile, openFile, temporaryFolder } from "./folder.ts";

describe("sqlite failures", () => {
  const folder = temporaryFolder();

  it("a full disk is journal_failed, loses nothing acknowledged, and goes on once there is room", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file, { maxSize: 512 * 1024 });
    const { ownership: old } = await claimed(journal);
    await put(journal, old, [text("x".repeat(150_000))]);
    await finish(journal, old);
    const { ownership } = await claimed(journal);
    let kept = 0;
    const failure = await (async () => {
      for (; ; kept++) await put(journal, ownership, [text("y".repeat(10_000))]);
    })().catch((thrown) => thrown);
    expect(failure).to.include({ code: "journal_failed" });
    expect(failure.message).to.include("journal.maxSize: prune");
    expect(await journal.read(ownership.run, 0, 1_000)).to.have.length(kept);
    expect(await journal.prune({ keep: 0 })).to.equal(1);
    expect(await put(journal, ownership, [text("z")])).to.equal(true);
    await journal.close();
  });

  it("a locked file makes a run wait, and it goes on when the lock is gone", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file, { busyTimeout: 20 });
    const { ownership } = await claimed(journal);
    const other = new DatabaseSync(file);
    other.exec("BEGIN EXCLUSIVE");
    const failure = await journal.heartbeat("w").catch((thrown) => thrown);
    expect(failure.message).to.include("another process keeps it locked");
    const log = new Committer({ journal }).openLog(ownership);
    const step = log.step({ type: "text.delta", round: 1, text: "a" });
    await expectPending(step);
    other.exec("ROLLBACK");
    await step;
    expect(await journal.read(ownership.run, 0, 10)).to.have.length(1);
    other.close();
    await journal.close();
  });

  it("a lock is waited for once: then writers fail at once, readers go on, and a ping says why", async () => {
    const file = freshFile(folder);
    const busyTimeout = 500;
    const journal = await openFile(file, { busyTimeout });
    const { ownership } = await claimed(journal);
    await put(journal, ownership, [text("a")]);
    const other = new DatabaseSync(file);
    const timed = async (ask: () => Promise<unknown>) => {
      const start = performance.now();
      const failure = await ask().catch((thrown) => thrown);
      return { took: performance.now() - start, failure };
    };
    for (let round = 0; round < 2; round++) {
      other.exec("BEGIN EXCLUSIVE");
      expect((await timed(() => journal.heartbeat("w"))).took).to.be.at.least(busyTimeout);
      const pings = [];
      for (let count = 0; count < 3; count++) pings.push(await timed(() => journal.ping()));
      // The quickest: a busy machine is late now and then.
      expect(Math.min(...pings.map(({ took }) => took))).to.be.lessThan(busyTimeout);
      for (const { failure } of pings) expect(String(failure)).to.include("another process keeps it locked");
      expect(await journal.read(ownership.run, 0, 10)).to.have.length(1);
      other.exec("ROLLBACK");
      await journal.ping();
    }
    other.close();
    await journal.close();
  });

  it("a corrupt file is reported, with what to do", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const { ownership } = await claimed(journal);
    for (let n = 0; n < 50; n++) await put(journal, ownership, [text("x".repeat(2_000))]);
    await journal.close();
    const whole = readFileSync(file);
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 4_096);
    writeFileSync(file, damaged);
    const failure = await openFile(file)
      .then((opened) => opened.read(ownership.run, 0, 100).finally(() => opened.close()))
      .catch((thrown) => thrown);
    expect(failure).to.include({ code: "journal_failed" });
    expect(failure.message).to.include("it is corrupt; restore it from a backup");
  });

  it("a repaired file is used again without a restart", async () => {
    const file = freshFile(folder);
    const journal = await openFile(file);
    const { ownership } = await claimed(journal);
    await put(journal, ownership, [text("a")]);
    await journal.close();
    const whole = readFileSync(file);
    writeFileSync(file, Buffer.alloc(100, 1));
    const { SqliteJournal } = await import("../../../plugins/sqlite/journal.ts");
    const again = new SqliteJournal({ file, lease: 30_000, busyTimeout: 1_000, watch: 20 });
    const failure = await again.ping().catch((thrown) => thrown);
    expect(failure.message).to.include("not a SQLite database");
    writeFileSync(file, whole);
    expect(await again.read(ownership.run, 0, 10)).to.have.length(1);
    await again.close();
  });

  it("a file this user may only read is reported, with what to do", async () => {
    const file = freshFile(folder);
    await (await openFile(file)).close();
    chmodSync(folder, 0o755);
    chmodSync(file, 0o444);
    // Root may write to anything, so as root it is tried without that right. (As another user it might not reach this checkout.)
    const isRoot = process.getuid?.() === 0;
    const command = isRoot ? ["setpriv", "--bounding-set=-dac_override", process.execPath] : [process.execPath];
    if (!isRoot) chmodSync(folder, 0o555);
    const module = fileURLToPath(new URL("../../../plugins/sqlite/journal.js", import.meta.url));
    const script = `const { SqliteJournal } = await import(${JSON.stringify(module)});
      const journal = new SqliteJournal({ file: ${JSON.stringify(file)}, lease: 1000, busyTimeout: 100, watch: 50 });
      await journal.heartbeat("w").catch((error) => process.stdout.write(error.message));
      await journal.close();`;
    const [program = "", ...words] = [...command, "--no-warnings", "--input-type=module", "-e", script];
    const child = spawn(program, words);
    let said = "";
    child.stdout.on("data", (data) => {
      said += data;
    });
    await once(child, "close");
    chmodSync(folder, 0o755);
    expect(said).to.match(/it is read-only; give this user the right to write|cannot be opened; check that its folder/);
  });

  it("a query that fails is reported to its caller only", async () => {
    const journal = await openFile(freshFile(folder));
    const { ownership } = await claimed(journal);
    await put(journal, ownership, [text("a")]);
    const failure = await journal.read({} as string, 0, 1).catch((thrown) => thrown); // what no caller should do
    expect(failure).to.include({ code: "record_invalid" });
    expect(await journal.read(ownership.run, 0, 10)).to.have.length(1);
    await journal.close();
  });
});

/** Not settled after a few of the engine's refusals. */
async function expectPending(promise: Promise<unknown>): Promise<void> {
  const pending = Symbol("pending");
  const first = await Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 150, pending))]);
  expect(first).to.equal(pending);
}
