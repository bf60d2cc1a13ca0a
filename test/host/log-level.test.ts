import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { testFolder } from "./folder.ts";

const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/** Each program runs one agent and reports nothing itself; what is on stderr is the log. */
const library = `
import { openVenturi } from ${module("../../src/index.js")};
const venturi = await openVenturi({ configFile: process.argv[2] });
await venturi.agent(process.argv[3]).execute("hello").catch(() => {});
await venturi.close();
`;
const service = `
import { openService } from ${module("../../src/host/service.js")};
const { url, drain } = await openService({ configFile: process.argv[2] });
const headers = { "content-type": "application/json" };
await fetch(url + "/v1/runs", { method: "POST", headers, body: JSON.stringify({ agent: process.argv[3], input: "hello" }) });
await drain();
`;

describe("the log on stderr", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const config = (telemetry: string) => `
providers: { demo: { type: simulator, pace: 0 } }
agents: { assistant: { model: demo/small }, broken: { model: "demo/small!status=400" } }
journal: { type: memory }
server: { listen: 0 }
telemetry: ${telemetry}
`;
  const messages = async (program: string, options: { telemetry: string; agent?: string }): Promise<string[]> => {
    const file = folder.write({ "main.mjs": program, "venturi.yaml": config(options.telemetry) });
    const words = [file, folder.path("venturi.yaml"), options.agent ?? "assistant"];
    const { stderr } = await promisify(execFile)(process.execPath, ["--no-warnings", ...words]);
    return stderr.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).message]));
  };

  for (const telemetry of ["{}", "off"]) {
    it(`has a line per run in the service, and none in a program, with telemetry: ${telemetry}`, async () => {
      expect(await messages(service, { telemetry })).to.include("run finished");
      expect(await messages(library, { telemetry })).to.deep.equal([]);
    });
  }

  it("has a program's runs when its config says so, and its failures in any case", async () => {
    expect(await messages(library, { telemetry: "{ logs: { level: info } }" })).to.include("run finished");
    expect(await messages(library, { telemetry: "{}", agent: "broken" })).to.deep.equal(["run failed"]);
  });
});
