import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { loadConfig } from "../src/host/config/load.ts";
import { venturi } from "./cli/venturi.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("what is shipped as files", () => {
  it("config/venturi.schema.json, docs/config.md and the snapshot of the public types are fresh", () => {
    const check = spawnSync(process.execPath, ["scripts/generate.mjs", "--check"], { cwd: root, encoding: "utf8" });
    // The compiler may say on stderr that it was ended before it was done with something nobody asked for.
    expect(check.status, check.stderr).to.equal(0);
  });

  it("the default configuration is valid and needs nothing from the environment", async () => {
    const { exit, out, err } = await venturi(["validate"], {}, root);
    expect([exit, err]).to.deep.equal([0, ""]);
    expect(out).to.match(/^config\/venturi\.yaml is valid: 1 agent, 1 model, /);
  });

  it("the default configuration asks a real provider first once its key is set", async () => {
    const load = (env: Record<string, string>) => loadConfig({ file: `${root}config/venturi.yaml`, env });
    expect((await load({})).models.main?.chain).to.deep.equal(["demo/small"]);
    const chain = (await load({ ANTHROPIC_API_KEY: "sk-1", OPENAI_API_KEY: "sk-2" })).models.main?.chain;
    expect(chain?.map((target) => target.split("/")[0])).to.deep.equal(["claude", "gpt", "demo"]);
  });
});
