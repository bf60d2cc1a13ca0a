import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const config = `
providers: { demo: { type: simulator, pace: 0 } }
agents: { endless: { model: demo/pace-20-5000 } }
journal: { type: sqlite, path: ./venturi.db }
`;

describe("a reader that closes the pipe of `venturi run`", () => {
  const folder = testFolder();

  it("cancels the run, so that no later command goes on with it, and the command ends with 0", async () => {
    const file = folder.write({ "venturi.yaml": config });
    const child = spawn(process.execPath, [bin, "run", "endless", "go", "--config", file], { cwd: dirname(file) });
    await once(child.stdout, "data");
    child.stdout.destroy();
    child.stderr.resume();
    expect((await once(child, "exit"))[0]).to.equal(0);
    const { out } = await venturi(["runs", "--config", file, "--json"], {}, dirname(file));
    expect(out).to.contain('"cancelled"');
  });

  it("is not needed for that: a full disk does it too, with an error that says so", async () => {
    const file = folder.write({ "venturi.yaml": config });
    const full = openSync("/dev/full", "w");
    const run = async (...words: string[]) => {
      const stdio = ["ignore", full, "pipe"] as const;
      const child = spawn(process.execPath, [bin, ...words, "--config", file], {
        cwd: dirname(file),
        stdio: [...stdio],
      });
      let said = "";
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      const [status] = (await once(child, "close")) as [number | null];
      return { status, said };
    };
    for (const words of [["run", "endless", "go"], ["runs"], ["config", "show"]]) {
      const { status, said } = await run(...words);
      expect(status, said).to.equal(1);
      expect(said).to.contain("cli.output: unavailable: standard output cannot be written: ENOSPC");
      expect(said).not.to.contain("    at ");
    }
    closeSync(full);
    const { out } = await venturi(["runs", "--config", file, "--json", "--status", "running"], {}, dirname(file));
    expect(out).to.equal("");
  });

  for (const [signal, status] of Object.entries({ SIGTERM: 143, SIGHUP: 129 })) {
    it(`so does ${signal}, with the status of that signal`, async () => {
      const file = folder.write({ "venturi.yaml": config });
      const child = spawn(process.execPath, [bin, "run", "endless", "go", "--config", file], { cwd: dirname(file) });
      await once(child.stdout.resume(), "data");
      child.stderr.resume();
      child.kill(signal as NodeJS.Signals);
      expect(await once(child, "exit")).to.deep.equal([status, null]);
      const { out } = await venturi(["runs", "--config", file, "--json"], {}, dirname(file));
      expect(out).to.contain('"cancelled"').and.not.contain('"running"');
    });
  }
});
