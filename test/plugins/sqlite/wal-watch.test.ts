import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { WalWatch } from "../../../plugins/sqlite/wal-watch.ts";

describe("the watch on SQLite's log", () => {
  let folder: string;
  let file: string;
  let looks: number;
  let changed: boolean;
  let watch: WalWatch;
  const write = () => appendFileSync(`${file}-wal`, "frame");
  const looked = async (times: number): Promise<void> => {
    while (looks < times) await sleep(5);
  };
  const opened = (pace: number): void => {
    watch = new WalWatch(pace, () => {
      looks += 1;
      return changed;
    });
    watch.open(file);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-watch-"));
    file = join(folder, "journal.db");
    looks = 0;
    changed = false;
  });

  afterEach(() => {
    watch.close();
    rmSync(folder, { recursive: true });
  });

  it("checks once for earlier writes, at each change, and not in between", async () => {
    writeFileSync(`${file}-wal`, "");
    opened(20);
    await looked(1);
    const started = Date.now();
    await sleep(200);
    expect(looks).to.be.at.most(2 + (Date.now() - started) / 1_000); // the regular ones, on a slow machine
    const took: number[] = [];
    for (let i = 0; i < 5; i++) {
      const before = looks;
      const written = performance.now();
      write();
      await looked(before + 1);
      took.push(performance.now() - written);
      await sleep(60);
    }
    expect(Math.min(...took)).to.be.below(150); // a look a second comes that soon once in a thousand times
    expect(looks).to.be.at.most(12 + (Date.now() - started) / 1_000); // a write may be reported twice
  });

  it("sees one change of another process within the pace, and the last one in any case", async () => {
    writeFileSync(`${file}-wal`, "");
    opened(150);
    await looked(1);
    changed = true;
    write();
    await looked(2);
    const before = looks;
    const started = performance.now();
    for (let i = 0; i < 20; i++) {
      write();
      await sleep(2);
    }
    expect(looks).to.be.at.most(before + 2 + (performance.now() - started) / 150);
    await looked(before + 1);
  });

  it("watches again when another process has stopped writing", async () => {
    writeFileSync(`${file}-wal`, "");
    opened(20);
    await looked(1);
    const took: number[] = [];
    for (let i = 0; i < 5; i++) {
      const before = looks;
      const written = performance.now();
      changed = true;
      write();
      await looked(before + 1);
      changed = false;
      await looked(before + 3); // at the end of the pause, and once the log is watched again
      took.push(performance.now() - written);
    }
    expect(Math.min(...took)).to.be.below(800); // three looks once a second take two
  });

  it("looks once a second though nothing is reported", async () => {
    writeFileSync(`${file}-wal`, "");
    const started = Date.now();
    opened(20);
    await looked(3);
    expect(Date.now() - started).to.be.above(1_500);
  });

  it("looks at its pace where it cannot watch, and no more once it is closed", async () => {
    opened(20);
    await looked(5);
    watch.hurry(5);
    await looked(20);
    watch.close();
    const before = looks;
    await sleep(60);
    expect(looks).to.equal(before);
  });

  it("follows the log of a connection that was opened again", async () => {
    writeFileSync(`${file}-wal`, "");
    opened(20);
    await looked(1);
    rmSync(`${file}-wal`);
    writeFileSync(`${file}-wal`, "");
    watch.open(file);
    await looked(2);
    await sleep(60);
    const before = looks;
    write();
    await looked(before + 1);
  });
});
