import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { testFolder } from "../host/folder.ts";

const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;
const config = `
dataFolder: ./data
providers: { demo: { type: simulator, pace: 0 } }
agents: { assistant: { model: demo/echo } }
journal: { type: memory }
`;
const hasPty = (spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "").includes("util-linux");

describe("venturi chat on a terminal", function () {
  this.timeout(180_000);
  const folder = testFolder();

  it(`Ctrl-C clears a half-typed line and does not quit; on an empty line it does (script is ${hasPty ? "here" : "not here"})`, async function () {
    if (!hasPty) return this.skip();
    const file = folder.write({ "venturi.yaml": config });
    const command = `${process.execPath} --no-warnings ${bin} chat assistant --config ${file}`;
    const child = spawn("script", ["-qfec", command, "/dev/null"], { env: { ...process.env, TERM: "xterm" } });
    let screen = "";
    const shows = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => pattern.test(stripVTControlCharacters(screen)) && resolve();
        child.stdout.on("data", look);
        look();
      });
    child.stdout.on("data", (data) => {
      screen += data;
    });
    const exit = once(child, "exit");
    await shows(/assistant> $/);
    child.stdin.write("never say this");
    await shows(/never say this$/);
    child.stdin.write("\u0003");
    await shows(/\^C\s+assistant> $/);
    child.stdin.write("say that\n");
    await shows(/say that\s+.*say that\s.*run_\w+\s+assistant> $/s);
    child.stdin.write("\u0003");
    expect((await exit)[0]).to.equal(0);
    expect(stripVTControlCharacters(screen).match(/never say this/g)).to.have.length(1);
  });
});
