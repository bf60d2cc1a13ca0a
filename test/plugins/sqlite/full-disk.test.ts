import { spawnSync } from "node:child_process";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { WriteLock } from "../../../plugins/sqlite/write-lock.ts";
import { temporaryFolder } from "./folder.ts";

/** In a mount of its own, which nobody else sees and which ends with the process. */
const onSmallDisk = (folder: string, program: readonly string[]) =>
  spawnSync(
    "unshare",
    ["-rm", "sh", "-c", 'mount -t tmpfs -o size=8m tmpfs "$0" || exit 77; exec "$@"', folder, ...program],
    { encoding: "utf8" },
  );

const moduleOf = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));

const script = (folder: string) => `
  const { statfsSync, writeFileSync } = await import("node:fs");
  const { SqliteJournal } = await import(${moduleOf("plugins/sqlite/journal.js")});
  const { claimed, finish, put, text } = await import(${moduleOf("src/testing/journal-bench.js")});
  const open = () => new SqliteJournal({ file: ${JSON.stringify(`${folder}/runs.db`)}, lease: 30_000, busyTimeout: 1_000, watch: 50 });
  let journal = open();
  for (let runs = 0; runs < 40; runs++) {
    const { ownership } = await claimed(journal);
    await put(journal, ownership, [text("x".repeat(10_000))]);
    await finish(journal, ownership);
  }
  await journal.close();
  journal = open();
  await journal.heartbeat("w"); // Makes the log, and the index of it.
  const { bavail, bsize } = statfsSync(${JSON.stringify(folder)});
  writeFileSync(${JSON.stringify(`${folder}/other`)}, Buffer.alloc(bavail * bsize - 64 * 1024, 1));
  const said = [];
  // 4 KiB of log or more each, which is copied into the file by itself every 32 at the earliest.
  for (let beats = 0; beats < 200; beats++) await journal.heartbeat("w").catch((error) => said.push(error.message));
  const pruned = await journal.prune({ keep: 0 }).catch((error) => error.message);
  const full = await (async () => {
    const { ownership } = await claimed(journal);
    for (;;) await put(journal, ownership, [text("y".repeat(100_000))]);
  })().catch((error) => error.message);
  await journal.close();
  process.stdout.write(JSON.stringify({ said, pruned, full }));`;

describe("a journal on a disk that something else has filled", () => {
  const folder = temporaryFolder();

  it("goes on in the space of its log, and prunes in it; where that is too little, it says what to do", function () {
    const node = [process.execPath, "--no-warnings", "--input-type=module", "-e", script(folder)];
    const { status, stdout, stderr, error } = onSmallDisk(folder, node);
    if (error !== undefined || status === 77 || /unshare failed|Operation not permitted/.test(stderr)) this.skip(); // No mounts here.
    expect(stderr).to.equal("");
    const { said, pruned, full } = JSON.parse(stdout);
    expect(said).to.deep.equal([]);
    expect(pruned).to.equal(40);
    expect(full).to.include("its disk is full: free as much as its -wal file has, then prune old runs");
    expect(full).not.to.include(folder);
  });

  it("does not copy its log again for every write that fails, once the file had no room for it", () => {
    const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });
    let copies = 0;
    const get = () => {
      copies += 1;
      throw full;
    };
    const database = { exec: () => {}, prepare: () => ({ get }) } as unknown as DatabaseSync; // What it uses of one.
    const lock = new WriteLock(database, 1_000);
    expect([1, 2, 3].map(() => lock.makesRoom(full))).to.deep.equal([false, false, false]);
    expect(copies).to.equal(1);
  });
});
