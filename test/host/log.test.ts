import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { textLog } from "../../src/host/system/log.ts";

describe("logs as text", () => {
  it("a line has the time, the level, the message and the fields", () => {
    const lines: string[] = [];
    textLog("info", (line) => lines.push(line)).warn("config.reload", { code: "timeout", ms: 5, keys: ["a"] });
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.match(/^\d\d:\d\d:\d\d\.\d{3} warn {2}config\.reload code=timeout ms=5 keys=\["a"\]\n$/);
  });

  it("lines below the level are not written, and silent writes none", () => {
    const lines: string[] = [];
    const log = textLog("warn", (line) => lines.push(line));
    log.debug("a");
    log.info("b");
    log.error("c");
    textLog("silent", (line) => lines.push(line)).error("d");
    expect(lines.map((line) => line.trim().split(" ").at(-1))).to.deep.equal(["c"]);
  });
});

describe("logs as JSON lines", () => {
  type Child = ChildProcessByStdio<null, Readable, Readable>;
  let child: ChildProcess;
  afterEach(() => child.kill("SIGKILL"));

  const started = (program: string, stderr: "pipe" | number = "pipe"): Child => {
    const module = new URL("../../src/host/system/log.js", import.meta.url).href;
    const open = `const { openLog } = await import("${module}"); const log = await openLog({ level: "info", format: "json" });`;
    child = spawn(process.execPath, ["--input-type=module", "-e", open + program], {
      stdio: ["ignore", "pipe", stderr],
    });
    return child as Child; // with a number for stderr there is no stream of it
  };
  const linesOf = async (stream: Readable): Promise<{ message: string; number?: number; lines?: number }[]> =>
    (await text(stream))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  for (const [how, end] of [
    ["exits", "process.exit(0);"],
    ["fails", 'setImmediate(() => { throw new Error("broken"); });'],
  ] as const) {
    it(`are all written when the process ${how} right after them`, async () => {
      const { stderr } = started(`for (let number = 0; number < 3000; number++) log.info("one", { number }); ${end}`);
      const written = (await text(stderr)).split("\n").filter((line) => line.startsWith("{"));
      const numbers = written.map((line) => JSON.parse(line).number as number);
      expect(numbers).to.deep.equal(Array.from({ length: 3000 }, (_, i) => i));
    });
  }

  it("have each key once, whatever the fields are called", async () => {
    const { stderr } = started('log.info("one", { pid: 7, level: "x", time: 1, message: "other", code: "c" });');
    const [line = ""] = (await text(stderr)).split("\n");
    const keys = [...line.matchAll(/"(\w+)":/g)].map(([, key]) => key);
    expect(new Set(keys).size).to.equal(keys.length);
    expect(JSON.parse(line)).to.include({ message: "one", level: "info", pid_: 7, message_: "other", code: "c" });
  });

  it("that cannot be written, as on a full disk, do not stop the process, now or at its end", async () => {
    const full = openSync("/dev/full", "w");
    const program = `for (let i = 0; i < 3; i++) { log.info("one"); await new Promise((resolve) => setTimeout(resolve, 20)); } console.log("goes on");`;
    const { stdout } = started(program, full);
    closeSync(full);
    const exit = once(child, "exit");
    expect(await text(stdout)).to.equal("goes on\n");
    expect(await exit).to.deep.equal([0, null]);
  });

  it("that nobody reads do not stop the process; those past the bound are dropped, and counted", async () => {
    const { stdout, stderr } = started(`
      const pad = "x".repeat(1000);
      for (let number = 0; number < 5000; number++) log.info("one", { number, pad });
      setTimeout(() => console.log("goes on"), 100);
      process.once("SIGTERM", () => process.exit(0));
      setInterval(() => log.info("later"), 20);
    `);
    const [said] = await once(stdout, "data");
    expect(String(said)).to.equal("goes on\n");
    const lines = linesOf(stderr);
    stderr.on("data", (some) => {
      if (String(some).includes("dropped")) child.kill("SIGTERM");
    });
    const written = (await lines).filter(({ message }) => message === "one");
    const dropped = (await lines).find(({ message }) => message.startsWith("log lines were dropped"))?.lines ?? 0;
    expect(written.map(({ number }) => number)).to.deep.equal(Array.from(written, (_, i) => i));
    expect(written.length).to.be.within(900, 4000);
    expect(written.length + dropped).to.equal(5000);
  });
});
