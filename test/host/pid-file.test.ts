import { existsSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { loadConfig } from "../../src/host/config/load.ts";
import { pidFile, runningPid, writePidFile } from "../../src/host/pid-file.ts";
import { preamble, testFolder } from "./folder.ts";

describe("the pid file", () => {
  const folder = testFolder();
  const config = () => loadConfig({ file: folder.write({ "conf/a.yaml": `${preamble}dataFolder: ../run` }) });

  it("lies in the data folder, names this process and goes with it", async () => {
    const loaded = await config();
    const remove = writePidFile(loaded);
    expect(pidFile(loaded)).to.equal(folder.path("run/venturi.pid"));
    expect(runningPid(loaded)).to.equal(process.pid);
    remove();
    expect(existsSync(pidFile(loaded))).to.equal(false);
  });

  it("stays when another process has taken it over", async () => {
    const loaded = await config();
    const remove = writePidFile(loaded);
    writeFileSync(pidFile(loaded), "1\n");
    remove();
    expect(existsSync(pidFile(loaded))).to.equal(true);
  });

  it("with nonsense in it stands for no service", async () => {
    const loaded = await config();
    writePidFile(loaded);
    writeFileSync(pidFile(loaded), "nonsense");
    expect(() => runningPid(loaded)).to.throw(/no service is running/);
  });
});
