import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { LineWriter } from "../../src/host/system/line-writer.ts";

describe("a line writer on a non-blocking pipe", () => {
  let folder: string;
  let pipe: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-lines-"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    pipe = openSync(join(folder, "pipe"), constants.O_RDWR | constants.O_NONBLOCK);
  });
  afterEach(() => {
    closeSync(pipe);
    rmSync(folder, { recursive: true });
  });

  /** What is in the pipe now. */
  const taken = (): string => {
    const room = Buffer.alloc(1024 * 1024);
    try {
      return room.toString("utf8", 0, readSync(pipe, room));
    } catch {
      return ""; // it is empty
    }
  };
  const lines = Array.from({ length: 2_000 }, (_, number) => `${number} ${"ä".repeat(number % 90)}\n`);

  it("continues when there is room again, with every line in order", async () => {
    const writer = new LineWriter(pipe);
    for (const line of lines) writer.add(line);
    let text = "";
    while (text.length < lines.join("").length) {
      await sleep(5);
      text += taken();
    }
    expect(text).to.equal(lines.join(""));
    expect(writer.takeDropped()).to.equal(0);
  });

  it("gives up after a while at the end of the process", () => {
    const writer = new LineWriter(pipe);
    for (const line of lines) writer.add(line);
    writer.flush();
    expect(taken().split("\n").length).to.be.above(100);
  });
});
