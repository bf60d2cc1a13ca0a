import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { testFolder } from "./folder.ts";

const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

type Opened = "library" | "service";

/** Opens each configuration, runs its agent once, closes it and reports nothing itself: what is on stderr is the log. */
const program = `
import { openVenturi } from ${module("../../src/index.js")};
import { openService } from ${module("../../src/host/service.js")};
const open = {
  async library(configFile, agent) {
    const venturi = await openVenturi({ configFile });
    await venturi.agent(agent).execute("hello").catch(() => {});
    await venturi.close();
  },
  async service(configFile, agent) {
    const { url, drain } = await openService({ configFile });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ agent, input: "hello" });
    await (await fetch(url + "/v1/runs", { method: "POST", headers, body })).text();
    await drain();
  },
};
for (const [as, configFile, agent] of JSON.parse(process.argv[1])) await open[as](configFile, agent);
`;

describe("the log on stderr", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const config = (agent: string, telemetry: string) => `
providers: { demo: { type: simulator, pace: 0 } }
agents: { ${agent}: { model: "demo/small${agent === "broken" ? "!status=400" : ""}" } }
journal: { type: memory }
server: { listen: 0 }
telemetry: ${telemetry}
`;

  it("has a line per run in the service, in a program its failures, and its runs when its config says so", async () => {
    const cases: readonly (readonly [as: Opened, agent: string, telemetry: string])[] = [
      ["library", "quiet", "{}"],
      ["library", "off", "off"],
      ["library", "broken", "{}"],
      ["library", "wanted", "{ logs: { level: info } }"],
      ["service", "served", "{}"],
      ["service", "served-off", "off"],
    ];
    const list = cases.map(([as, agent, telemetry]) => {
      folder.write({ [`${agent}.yaml`]: config(agent, telemetry) });
      return [as, folder.path(`${agent}.yaml`), agent];
    });
    const words = ["--no-warnings", "--input-type=module", "-e", program, JSON.stringify(list)];
    const { stderr } = await promisify(execFile)(process.execPath, words);
    const lines = stderr
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { message: string; agent?: string });
    const of = (name: string) => lines.filter(({ agent }) => agent === name).map(({ message }) => message);
    expect(lines[0], "nothing before it").to.include({ message: "run failed", agent: "broken" });
    expect([of("quiet"), of("off"), of("broken")]).to.deep.equal([[], [], ["run failed"]]);
    for (const name of ["wanted", "served", "served-off"]) expect(of(name), name).to.include("run finished");
  });
});
