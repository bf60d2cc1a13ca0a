import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { expect } from "chai";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;
const config = (processes: number, agents = "{ a: { model: demo/small } }") => `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
agents: ${agents}
journal: { type: sqlite, path: ./runs.db }
channels: { http: {} }
server: { listen: 0, processes: ${processes} }
limits: { drain: 100ms }
`;

describe("venturi reload", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: ChildProcess;
  afterEach(async () => {
    const ended = once(service, "close");
    service.kill("SIGTERM");
    await ended;
  });

  for (const processes of [1, 2]) {
    it(`waits for the verdict of a service of ${processes} and prints it`, async () => {
      const file = folder.write({ "venturi.yaml": config(processes) });
      service = spawn(process.execPath, ["--no-warnings", bin, "start", "--quiet", "--config", file]);
      let said = "";
      service.stderr?.on("data", (text) => {
        said += text;
        service.emit("said");
      });
      while (!said.includes("listening")) await once(service, "said");
      folder.write({ "venturi.yaml": config(processes, "{ a: { model: demo/small }, b: { model: demo/small } }") });
      const good = await venturi(["reload", "--config", file]);
      expect(good.exit, good.err).to.equal(0);
      expect(good.err).to.match(/^the service \(process \d+\) has reloaded: config \w+\n$/);
      folder.write({ "venturi.yaml": config(processes).replace("drain: 100ms", "drain: 200ms") });
      expect((await venturi(["reload", "--config", file])).err).to.include("changes of limits need a restart");
      // Valid for the command, which has other variables than the service.
      folder.write({ "venturi.yaml": config(processes, '{ a: { model: "${env:ONLY_HERE}" } }') });
      const bad = await venturi(["reload", "--config", file], { ONLY_HERE: "demo/small" });
      expect(bad.exit).to.equal(78);
      expect(bad.err).to.include("refused it and goes on as before").and.to.include("ONLY_HERE");
      expect(readdirSync(folder.path("data")).filter((name) => name.includes("reload"))).to.deep.equal([]);
    });
  }
});
