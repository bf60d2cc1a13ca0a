import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { loadConfig } from "../../src/host/config/load.ts";
import { pidFile, runningPids, writePidFile } from "../../src/host/system/pid-file.ts";
import { preamble, testFolder } from "./folder.ts";

describe("the pid file", () => {
  const folder = testFolder();
  const config = (name = "a") =>
    loadConfig({ file: folder.write({ [`conf/${name}.yaml`]: `${preamble}dataFolder: ../run` }) });

  it("is in the data folder, names this process and is removed with it", async () => {
    const loaded = await config();
    const remove = writePidFile(loaded);
    expect(pidFile(loaded)).to.equal(folder.path("run/venturi.pid"));
    expect(runningPids(loaded)).to.deep.equal([process.pid]);
    remove();
    expect(existsSync(pidFile(loaded))).to.equal(false);
  });

  it("two instances share a data folder: each keeps its own line, and a reload finds those of its config", async () => {
    const [one, two] = [await config("one"), await config("two")];
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const remove = writePidFile(one);
    appendFileSync(pidFile(one), `${other.pid} ${two.file}\n`);
    expect(runningPids(one)).to.deep.equal([process.pid]);
    expect(runningPids(two)).to.deep.equal([other.pid]);
    remove();
    expect(readFileSync(pidFile(one), "utf8")).to.equal(`${other.pid} ${two.file}\n`);
    expect(() => runningPids(one)).to.throw(/no service is running/);
    other.kill();
    await once(other, "exit");
    expect(() => runningPids(two)).to.throw(/is gone/);
    writePidFile(one);
    expect(readFileSync(pidFile(one), "utf8")).to.equal(`${process.pid} ${one.file}\n`);
  });

  it("with invalid content names no service", async () => {
    const loaded = await config();
    writePidFile(loaded);
    writeFileSync(pidFile(loaded), "nonsense");
    expect(() => runningPids(loaded)).to.throw(/no service is running/);
  });
});
