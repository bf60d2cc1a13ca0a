import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { nextSteps } from "../../src/cli/next-steps.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { openHost } from "../../src/host/open.ts";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

describe("what is printed works when it is pasted", function () {
  this.timeout(180_000);
  const folder = testFolder();

  it("init . keeps the database inside the project", async () => {
    const made = await venturi(["init", "."], {}, folder.path(""));
    expect(made.exit, made.err).to.equal(0);
    const ran = await venturi(["run", "assistant", "say hello", "--config", "venturi.yaml"], {}, folder.path(""));
    expect(ran.exit, ran.err).to.equal(0);
    expect(existsSync(folder.path("data/venturi.db"))).to.equal(true);
  });

  it("replay --wire makes its folder", async () => {
    const configFile = folder.write({
      "venturi.yaml":
        "providers: { demo: { type: simulator, pace: 0 } }\nagents: { a: { model: demo/small } }\njournal: { type: sqlite, path: ./v.db, keepWire: true }\n",
    });
    const run = JSON.parse(
      (await venturi(["run", "a", "hi", "--json", "--config", configFile])).out.split("\n")[0] ?? "",
    ).run;
    const wire = folder.path("new/folder");
    const out = await venturi(["replay", run, "--wire", wire, "--config", configFile]);
    expect(out.exit, out.err).to.equal(0);
    expect(out.out.trim().split("\n").every(existsSync)).to.equal(true);
  });

  it("a new plugin depends on the Venturi that wrote it, wherever that is", async () => {
    const made = await venturi(["plugin", "new", "weather", "--kind", "tool"], {}, folder.path(""));
    expect(made.exit, made.err).to.equal(0);
    const { devDependencies } = JSON.parse(readFileSync(folder.path("weather/package.json"), "utf8"));
    const [, place = ""] = /^file:(.+)$/.exec(devDependencies.venturi) ?? [];
    expect(JSON.parse(readFileSync(join(place, "package.json"), "utf8")).name).to.equal("venturi");
  });

  it("the next steps name the configuration, and only keys that it reads", async () => {
    const text = (more: string) =>
      `providers: { demo: { type: simulator } }\nagents: { a: { model: demo/small } }\njournal: { type: memory }\n${more}`;
    const steps = async (more: string) => {
      const configFile = folder.write({ "other.yaml": text(more) });
      const host = await openHost({ configFile, log: silentLog, telemetry: noTelemetry });
      try {
        return { told: nextSteps(host, "http://127.0.0.1:1"), configFile };
      } finally {
        await host.close();
      }
    };
    const plain = await steps("");
    expect(plain.told).to.contain(`chat a --config ${plain.configFile}`).and.not.contain("API_KEY");
    const keyed = await steps(
      '# uses\nmodels: { real: { chain: [demo/x] } }\ntelemetry: { logs: { level: "${env:MY_API_KEY:-error}" } }\n',
    );
    expect(keyed.told).to.contain("export MY_API_KEY=…").and.not.contain("ANTHROPIC");
  });

  it("an ES module in a CommonJS project gets an error that says what to do", async () => {
    mkdirSync(folder.path("tools"), { recursive: true });
    writeFileSync(folder.path("tools/package.json"), '{ "type": "commonjs" }');
    const configFile = folder.write({
      "venturi.yaml":
        "providers: { demo: { type: simulator } }\nagents: { a: { model: demo/small } }\ntools: { t: { type: module, path: ./tools/t.js } }\n",
      "tools/t.js":
        "import fs from 'node:fs';\nexport default { description: 'd', parameters: { type: 'object' }, call: () => fs.constants };\n",
    });
    const { exit, err } = await venturi(["validate", "--config", configFile]);
    expect(exit).to.equal(78);
    expect(err).to.contain('is an ES module that Node takes for CommonJS; name it .mjs, or put "type": "module"');
  });

  it("completion offers the flags of the command that is typed", async () => {
    const { out } = await venturi(["completion", "bash"]);
    const complete = (...words: string[]) => {
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")})\nCOMP_CWORD=${words.length - 1}\n_venturi\necho "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim().split(" ");
    };
    expect(complete("venturi", "runs", "--s")).to.have.members(["--status", "--since", "--set"]);
    expect(complete("venturi", "wh")).to.deep.equal(["why"]);
    expect(complete("venturi", "--config", "x", "replay", "--w")).to.deep.equal(["--wire"]);
  });

  it("logs that are JSON lines are nothing but JSON lines", async () => {
    const configFile = folder.write({
      "venturi.yaml":
        "providers: { demo: { type: simulator } }\nagents: { a: { model: demo/small } }\njournal: { type: memory }\nserver: { listen: 0 }\n",
    });
    const bin = new URL("../../src/cli/bin.js", import.meta.url).pathname;
    const child = spawn(process.execPath, [bin, "start", "--config", configFile], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (data) => {
      err += data;
      if (!child.killed && err.includes('"listening"')) child.kill("SIGTERM");
    });
    const [exit] = await once(child, "close");
    expect(exit).to.equal(0);
    for (const line of err.trim().split("\n")) expect(() => JSON.parse(line), line).not.to.throw();
  });
});
