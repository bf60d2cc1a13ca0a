import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { RunEvent } from "../../src/core/run/events.ts";
import { venturi } from "./venturi.ts";

const lines = (text: string): RunEvent[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RunEvent); // what --json prints

describe("venturi fork, compare and reindex", function () {
  this.timeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), "venturi-fork-"));
  const config = join(folder, "venturi.yaml");
  let events: RunEvent[] = [];
  let run = "";
  before(async () => {
    const content = {
      version: 1,
      dataFolder: folder,
      providers: { demo: { type: "simulator", pace: 0 } },
      tools: { calculator: { type: "calculator" } },
      agents: { helper: { model: "demo/small", tools: ["calculator"] } },
      journal: { type: "sqlite", path: join(folder, "journal.db") },
      telemetry: "off",
    };
    writeFileSync(config, JSON.stringify(content));
    const { out, err, exit } = await venturi(["run", "helper", "What is 17 * 23?", "--json", "--config", config]);
    expect(exit, err).to.equal(0);
    events = lines(out);
    run = events[0]?.run ?? "";
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("goes on from a step with another result, and shows what that changed", async () => {
    const call = events.find((event) => event.type === "tool.finished");
    const step = events.find(({ type }) => type === "round.finished")?.seq ?? 0;
    const edit = `${call?.type === "tool.finished" ? call.call : ""}=392`;
    const words = ["fork", run, "--after", String(step), "--edit", edit, "--json", "--config", config];
    const { out, err, exit } = await venturi(words);
    expect(exit, err).to.equal(0);
    const forked = lines(out);
    expect(forked[0]).to.deep.include({ fork: { run, after: step } });
    expect(forked.at(-1)).to.have.property("output").that.includes("392");
    const other = forked[0]?.run ?? "";
    const compared = await venturi(["compare", run, other, "--config", config]);
    expect(compared.exit, compared.err).to.equal(0);
    expect(compared.out).to.match(/^~ round 1 {2}calculator$/m);
    expect(compared.out).to.match(/^ {4}A .*→ .*391\}$/m);
    expect(compared.out).to.match(/^ {4}B .*→ 392$/m);
    expect(compared.out).to.match(/^the answers differ from character \d+ on:$/m);
    const same = await venturi(["compare", run, run, "--json", "--config", config]);
    const { calls, outputDiffersAt } = JSON.parse(same.out) as {
      calls: { difference: string }[];
      outputDiffersAt?: number;
    };
    expect([calls.map(({ difference }) => difference), outputDiffersAt]).to.deep.equal([["none"], undefined]);
  });

  it("reindex makes lost digests anew, so that runs are found again", async () => {
    const database = new DatabaseSync(join(folder, "journal.db"));
    database.exec("DELETE FROM digests; DELETE FROM search");
    const count = () => database.prepare("SELECT count(*) AS n FROM search WHERE search MATCH '391'").get()?.n;
    expect(count()).to.equal(0);
    const { out, exit } = await venturi(["reindex", "--missing", "--json", "--config", config]);
    const { written, unreadable } = JSON.parse(out) as { written: number; unreadable: number };
    expect([exit, unreadable]).to.deep.equal([0, 0]);
    expect(written).to.be.greaterThan(1);
    expect(count()).to.be.greaterThan(0);
    const again = await venturi(["reindex", "--missing", "--config", config]);
    expect(again.err).to.equal("wrote 0 digests\n");
    database.close();
  });

  it("says what is wrong with what it was asked", async () => {
    for (const [words, message] of [
      [["--after", "x"], '--after: "x" is not the seq of an event'],
      [["--after", "1", "--tools", "all"], "--tools: one of recorded, run, ask"],
      [["--after", "1", "--edit", "nonsense"], '"nonsense" is not name=value'],
      [["--after", "3"], "is not the end of a step"],
    ] as const) {
      const { exit, err } = await venturi(["fork", run, ...words, "--config", config]);
      expect([exit, err.includes(message)], err).to.deep.equal([2, true]);
    }
    const { exit, err } = await venturi(["compare", run, "run_none", "--config", config]);
    expect([exit, err]).to.deep.equal([1, expectNoRun]);
  });
});

const expectNoRun =
  'cli.run: journal.read: not_found: there is no run "run_none" in the journal; `venturi runs` lists them\n';
