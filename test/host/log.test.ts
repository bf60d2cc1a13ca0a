import { expect } from "chai";
import { textLog } from "../../src/host/log.ts";

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
