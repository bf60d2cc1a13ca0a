import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { venturi } from "../../cli/venturi.ts";

const bin = fileURLToPath(new URL("../../../src/cli/bin.js", import.meta.url));

describe("the wire of an attempt whose process was killed", function () {
  this.timeout(180_000);
  let folder: string;
  let simulator: Simulator;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    simulator = await startSimulator({ pace: 0 });
  });
  after(async () => {
    await simulator.close();
    await rm(folder, { recursive: true });
  });

  it("is recorded, up to the last moment", async () => {
    const configFile = join(folder, "venturi.yaml");
    await writeFile(
      configFile,
      `version: 1
providers: { up: { type: openai, apiKey: x, baseUrl: "${simulator.url}/v1" } }
agents: { stalls: { model: "up/count-9!stall@5" } }
journal: { type: sqlite, path: ./runs.db, keepWire: true }
channels: {}
telemetry: off
`,
    );
    const child = spawn(process.execPath, [bin, "--config", configFile, "run", "stalls", "go", "--json"]);
    let out = "";
    child.stdout.on("data", (data) => {
      out += data;
    });
    const replay = async (): Promise<string | undefined> => {
      const run = /"run":"([^"]+)"/.exec(out)?.[1];
      if (run === undefined) return undefined;
      const { out: files } = await venturi(["--config", configFile, "replay", run, "--wire", folder]);
      const [file] = files.split("\n");
      return file ? await readFile(file, "utf8") : undefined;
    };
    while ((await replay()) === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGKILL");
    await once(child, "exit");
    const kept = await replay();
    expect(kept)
      .to.match(/^data: \{/)
      .and.not.contain("[DONE]");
    expect(kept?.match(/"content":"/g)?.length).to.be.at.least(4);
  });
});
