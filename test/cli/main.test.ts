import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { preamble, testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

describe("the command line", () => {
  const folder = testFolder();
  const good = `${preamble}providers: { demo: { type: sample-provider, apiKey: "\${env:SECRET_KEY}" } }
tools: { greet: { type: sample-tool } }
agents: { assistant: { model: demo/small, tools: [greet] } }
`;

  it("validate says in one line that a file is good", async () => {
    const file = folder.write({ "good.yaml": good });
    const { exit, out, err } = await venturi(["validate", "--config", file], { SECRET_KEY: "sk-42" });
    expect([exit, err]).to.deep.equal([0, ""]);
    expect(out).to.match(/^\S+good\.yaml is valid: 1 agent, 0 models, 1 provider, 1 tool, 1 channel \(config \w+\)\n$/);
  });

  it("validate tells three mistakes in three lines with line and column, and exits with 78", async () => {
    const text = `${preamble}agents:\n  one: { modl: x }\nlimits: { drain: 5 minutes }\nserver: { listen: 0.0.0.0:80 }\n`;
    const file = folder.write({
      "bad.yaml": text
        .replace("modl: x", "model: demo/small, tols: []")
        .replace("agents:", "providers: { demo: { type: sample-provider } }\nagents:"),
    });
    const { exit, out, err } = await venturi(["--config", file, "validate"]);
    expect([exit, out]).to.deep.equal([78, ""]);
    expect(err.replaceAll(folder.path("/"), "").trimEnd().split("\n")).to.deep.equal([
      'bad.yaml:7:29 agents.one.tols: unknown key (did you mean "tools"?)',
      'bad.yaml:8:18 limits.drain: expected a duration such as "250ms", "30s" or "5m"',
      "bad.yaml:9:19 server.listen: 0.0.0.0 can be reached from outside; set server.auth.keys or server.auth.jwt, or listen on 127.0.0.1",
    ]);
  });

  it("validate --json gives programs the same", async () => {
    const file = folder.write({ "bad.yaml": `${preamble}limits: { drain: 5 }\nagnts: {}` });
    const { exit, out } = await venturi(["validate", "--json", "--config", file]);
    expect(exit).to.equal(78);
    expect(JSON.parse(out).error.details.problems[0]).to.deep.include({ line: 6, column: 1, path: "agnts" });
  });

  it("config show prints every value with its place, defaults included, and no secret", async () => {
    const file = folder.write({ "good.yaml": good });
    const words = ["config", "show", "--config", file, "--set", "limits.drain=5s"];
    const { exit, out } = await venturi(words, { SECRET_KEY: "sk-42" });
    expect(exit).to.equal(0);
    const text = out.replaceAll(folder.path("/"), "");
    expect(text).to.include('apiKey: "***" # good.yaml:5:53 ${env:SECRET_KEY}');
    expect(text).to.include("drain: 5s # --set limits.drain");
    expect(text).to.include("model: demo/small # good.yaml:7:31");
    expect(text).to.include("activeRuns: 2000 # default");
    expect(text).not.to.include("sk-42");
  });

  it("config show masks what its key calls a secret, headers, and passwords in addresses", async () => {
    const options = "apiKey: sk-plain, headers: { x-custom: hush }";
    const text = `${preamble}providers: { demo: { type: sample-provider, ${options} } }\ndataFolder: postgres://me:pass@db/x`;
    const { out } = await venturi(["config", "show", "--json", "--config", folder.write({ "a.yaml": text })]);
    const shown = JSON.parse(out);
    expect(shown.providers.demo).to.deep.include({ apiKey: "***", headers: { "x-custom": "***" } });
    expect(shown.dataFolder).to.equal("postgres://me:***@db/x");
  });

  it("plugins lists name, kind, origin and version of what is loaded", async () => {
    const { out } = await venturi(["plugins", "--json", "--config", folder.write({ "a.yaml": good })], {
      SECRET_KEY: "x",
    });
    const rows = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ name, kind, used }) => [name, kind, used])).to.deep.equal([
      ["channel-sample", "channel", ["channels.sample"]],
      ["sample-journal", "journal", ["journal"]],
      ["sample-provider", "provider", ["providers.demo"]],
      ["sample-tool", "tool", ["tools.greet"]],
    ]);
    const all = await venturi(["plugins", "--all", "--config", folder.write({ "a.yaml": good })], { SECRET_KEY: "x" });
    expect(all.out).to.match(/^clock +tool +box +\d+\.\d+\.\d+ +-$/m);
  });

  it("an unknown command or option is a usage error with a suggestion", async () => {
    const unknown = await venturi(["validat"]);
    expect(unknown.exit).to.equal(2);
    expect(unknown.err).to.match(/unknown command 'validat'\n\(Did you mean validate\?\)/);
    expect((await venturi(["validate", "--confg", "x"])).exit).to.equal(2);
    expect(
      (await venturi(["validate", "--set", "nonsense", "--config", folder.write({ "a.yaml": good })])).exit,
    ).to.equal(2);
  });

  it("no command prints the help and is a usage error; asking for help is none", async () => {
    const nothing = await venturi([]);
    expect([nothing.exit, nothing.out]).to.deep.equal([2, ""]);
    const help = await venturi(["--help"]);
    expect([help.exit, help.err]).to.deep.equal([0, ""]);
  });

  it("the help of every command has an example and the options of all commands", async () => {
    const { out } = await venturi(["--help"]);
    const names = [...out.slice(out.indexOf("Commands:")).matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name ?? "");
    expect(names).to.include.members(["validate", "config", "plugins", "plugin", "reload"]);
    const called = names.filter((name) => name !== "help");
    const helps = await helpsOf(called);
    expect(helps).to.have.length(called.length);
    for (const [index, help] of helps.entries())
      expect(help, called[index]).to.include("Example:").and.include("--config <file>");
  });

  it("the version is printed by itself", async () => {
    for (const words of [["--version"], ["-V"], ["--set", "a=b", "--version"]]) {
      const { exit, out } = await venturi(words);
      expect(exit).to.equal(0);
      expect(out).to.match(/^\d+\.\d+\.\d+\n$/);
    }
  });

  it("reload checks the file first, then signals the service", async () => {
    const file = folder.write({ "a.yaml": preamble });
    const absent = await venturi(["reload", "--config", file]);
    expect(absent.exit).to.equal(1);
    expect(absent.err).to.match(/no service is running with this config/);

    const script =
      'process.on("SIGHUP", () => { console.log("asked"); process.exit(); }); console.log("up"); setInterval(() => {}, 1000)';
    const service = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(service.stdout, "data");
    mkdirSync(folder.path("data"));
    writeFileSync(folder.path("data/venturi.pid"), `${service.pid}\n`);
    const heard = once(service.stdout, "data");
    const closed = once(service, "close");
    expect((await venturi(["reload", "--config", file, "--set", "limits.nope=1"])).exit).to.equal(78);
    const ended = await venturi(["reload", "--config", file]);
    expect(ended.exit).to.equal(1);
    expect(ended.err).to.match(/ended instead of reloading/);
    expect(String((await heard)[0])).to.equal("asked\n");
    await closed;
    expect((await venturi(["reload", "--config", file])).err).to.match(/is gone/);
  });
});

async function helpsOf(names: readonly string[]): Promise<string[]> {
  const helps: string[] = [];
  for (const name of names) helps.push((await venturi([name, "--help"])).out);
  return helps;
}
