import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { Scenario } from "../../plugins/simulator/scenario.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { venturi } from "./venturi.ts";

const config = (folder: string, name: string, more: object = {}) => {
  const file = join(folder, `${name}.yaml`);
  const content = {
    version: 1,
    dataFolder: folder,
    providers: { demo: { type: "simulator", pace: 2 } },
    tools: { calculator: { type: "calculator" } },
    agents: { helper: { model: "demo/small", instructions: "Help.", tools: ["calculator"] } },
    journal: { type: "sqlite", path: join(folder, `${name}.db`), keepWire: true },
    telemetry: "off",
    ...more,
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
};

const lines = (text: string): RunEvent[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RunEvent); // what --json prints

describe("venturi replay, export, import and prune", function () {
  this.timeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), "venturi-cli-"));
  const here = config(folder, "here");
  const there = config(folder, "there");
  let events: RunEvent[] = [];
  let run = "";

  before(async () => {
    const { out, err, exit } = await venturi(["run", "helper", "What is 17 * 23?", "--json", "--config", here]);
    expect(exit, err).to.equal(0);
    events = lines(out);
    run = events[0]?.run ?? "";
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("replay prints the same events again", async () => {
    const { out, exit } = await venturi(["replay", run, "--fast", "--json", "--config", here]);
    expect(exit).to.equal(0);
    expect(lines(out)).to.deep.equal(events);
  });

  it("a run that is not there is not_found, with its exit status", async () => {
    for (const command of ["replay", "export"]) {
      const { exit, err } = await venturi([command, "run_nobody", "--config", here]);
      expect(exit).to.equal(1);
      expect(err).to.include("not_found: there is no run run_nobody");
    }
  });

  it("an export that fails leaves the file as it was", async () => {
    const file = join(folder, "earlier.ndjson");
    writeFileSync(file, "an earlier export");
    const failed = await venturi(["export", "run_nobody", "--output", file, "--config", here]);
    expect(failed.exit).to.not.equal(0);
    expect(readFileSync(file, "utf8")).to.equal("an earlier export");
    expect(readdirSync(folder).filter((name) => name.startsWith("earlier"))).to.deep.equal(["earlier.ndjson"]);
  });

  it("export and import carry a run to another journal, whole", async () => {
    const file = join(folder, "run.ndjson");
    const exported = await venturi(["export", run, "--output", file, "--config", here]);
    expect(exported.exit, exported.err).to.equal(0);
    expect(readFileSync(file, "utf8")).to.include('{"wire":{');
    const imported = await venturi(["import", file, "--config", there]);
    expect([imported.exit, imported.out]).to.deep.equal([0, `${run}\n`]);
    const again = await venturi(["export", run, "--config", there]);
    const createdAt = /"createdAt":[\d.]+/;
    expect(again.out.replace(createdAt, "")).to.equal(readFileSync(file, "utf8").replace(createdAt, ""));
    const twice = await venturi(["import", file, "--config", there]);
    expect([twice.exit, twice.err]).to.satisfy(([exit, err]: [number, string]) => exit === 1 && /conflict/.test(err));
    const copy = await venturi(["import", file, "--as", "run_copy", "--json", "--config", there]);
    expect(JSON.parse(copy.out)).to.deep.equal({ run: "run_copy", events: events.length, ended: true });
  });

  it("import refuses what is damaged, naming the line", async () => {
    const text = readFileSync(join(folder, "run.ndjson"), "utf8");
    const file = join(folder, "damaged.ndjson");
    const all = text.trimEnd().split("\n");
    for (const [damaged, says] of [
      [all.slice(0, 3).join("\n").slice(0, -5), "line 3 is no JSON"],
      [[all[0], ...all.slice(1).filter((line) => !line.includes('"seq":2}'))].join("\n"), "stands in place 2"],
      [`{"hello": 1}\n${text}`, "line 1 is not part of an exported run"],
    ] as const) {
      writeFileSync(file, damaged);
      const { exit, err } = await venturi(["import", file, "--as", "run_damaged", "--config", there]);
      expect(exit).to.equal(2);
      expect(err).to.include(says);
    }
    expect((await venturi(["export", "run_damaged", "--config", there])).exit).to.equal(1);
  });

  it("replay --as-fixture makes a scenario that reproduces the run", async () => {
    const { out } = await venturi(["replay", run, "--as-fixture", "--config", here]);
    const scenario = Scenario.parse(parse(out));
    expect(scenario.turns).to.have.length(2);
    const file = join(folder, "bug.yaml");
    writeFileSync(file, out);
    const again = config(folder, "again", { providers: { demo: { type: "simulator", pace: 0, scenarios: [file] } } });
    const second = await venturi(["run", "helper", "What is 17 * 23?", "--json", "--config", again]);
    // Reads may fall together differently and tools end sooner or later, so texts and types are compared as a whole.
    const shape = (all: readonly RunEvent[]) => [
      all.map((event) => (event.type === "text.delta" ? event.text : "")).join(""),
      ...all.flatMap((event) => (event.type.endsWith(".delta") ? [] : [event.type])).sort(),
      ...all.flatMap((event) => (event.type === "tool.finished" ? [`${event.name} ${event.output}`] : [])),
    ];
    expect(shape(lines(second.out))).to.deep.equal(shape(events));
  });

  it("replay --wire writes the raw streams that decode reads", async () => {
    const { out } = await venturi(["replay", run, "--wire", folder, "--config", here]);
    const files = out.trim().split("\n");
    expect(files).to.have.length(2);
    const decoded = await venturi(["decode", "--wire", "openai-chat", ...files]);
    expect(decoded.exit, decoded.err).to.equal(0);
    const text = decoded.out
      .split("\n")
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { text: string }).text);
    const said = events.map((event) => (event.type === "text.delta" ? event.text : "")).join("");
    expect(text.join("")).to.equal(said);
  });

  it("prune removes what is asked for, and asks what that is", async () => {
    const asked = await venturi(["prune", "--config", there]);
    expect([asked.exit, asked.err]).to.satisfy(
      ([exit, err]: [number, string]) => exit === 2 && /--older-than/.test(err),
    );
    const kept = await venturi(["prune", "--older-than", "1d", "--json", "--config", there]);
    expect(JSON.parse(kept.out)).to.deep.equal({ pruned: 0 });
    const pruned = await venturi(["prune", "--keep", "1", "--json", "--config", there]);
    expect(JSON.parse(pruned.out)).to.deep.equal({ pruned: 1 });
  });
});
