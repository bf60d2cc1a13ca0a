import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { RunSet } from "../../src/evals/scoring/run-set.ts";
import type { Summary } from "../../src/evals/stats/compare.ts";
import { Place } from "./place.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const set = "name: orders\nscorers: [exact, calls]\nitems:\n  - runs: { agent: buyer }\n";
const read = (text: string) => JSON.parse(text) as { summary: Summary; found: RunSet };
const scoresIn = (found: RunSet) => found.items.map(({ id, scores }) => [id, scores]);

describe("venturi eval of 50 recorded runs", function () {
  this.timeout(240_000);
  const place = new Place(50, (model, amount) =>
    model === "bad" ? amount % 3 === 0 : model === "worse" ? amount % 2 === 0 : false,
  );
  before(async () => {
    await place.record(50);
    place.write("set.yaml", set);
  });
  after(() => place.remove());

  it("executes no tool, gives equal scores twice, and tells a regression with its interval", async () => {
    expect(place.orders).to.equal(50);
    const first = await place.venturi("eval", "set.yaml", "--json");
    expect(first.code, first.err).to.equal(0);
    const second = await place.venturi("eval", "set.yaml", "--json", "--as", "main");
    const [one, two] = [read(first.out), read(second.out)];
    expect(one.found.items).to.have.length(50);
    expect(one.summary.scorers.map(({ mean }) => mean)).to.deep.equal([1, 1]);
    expect(scoresIn(two.found)).to.deep.equal(scoresIn(one.found));
    expect(one.found.items[0]?.run).not.to.equal(two.found.items[0]?.run);

    const worse = await place.venturi(
      "eval",
      "set.yaml",
      "--model",
      "demo/bad",
      "--against",
      "main",
      "--json",
      "--as",
      "bad",
      "--html",
      "report.html",
      "--junit",
      "junit.xml",
    );
    expect(worse.code, worse.err).to.equal(1);
    const { summary } = read(worse.out);
    const exact = summary.scorers[0];
    expect(exact?.verdict).to.equal("worse");
    expect(exact?.difference?.high).to.be.lessThan(0);
    expect(exact?.fell).to.have.length(17);
    expect(summary.scorers[1]?.verdict).to.equal("same");
    expect(place.read("junit.xml")).to.include('failures="18"').and.include("worse than the baseline");
    expect(place.read("report.html")).to.include("Changed side");

    const better = await place.venturi("eval", "set.yaml", "--against", "bad");
    expect(better.code, better.err).to.equal(0);
    expect(better.out).to.match(/exact +1\.000 +0\.660 +\+0\.340 +\+0\.2\d+ … \+0\.4\d+ +better/);
    expect(place.orders).to.equal(50);
  });

  it("stops at its budget and says what was left out", async () => {
    const { code, out } = await place.venturi("eval", "set.yaml", "--budget", "0.2", "--concurrency", "1");
    expect(code).to.equal(1);
    expect(out).to.match(/FAILED the budget was used up: \d+ items were not run/);
  });

  it("killed in the middle it goes on, and runs nothing twice", async () => {
    place.write("venturi.yaml", place.read("venturi.yaml").replace("pace: 0", "pace: 40"));
    const words = [bin, "eval", "set.yaml", "--concurrency", "2", "--config", place.file("venturi.yaml")];
    const child = spawn(process.execPath, words, { cwd: place.folder });
    await new Promise<void>((resolve) => {
      child.stderr.on("data", (data: Buffer) => {
        if (String(data).includes("/50")) resolve();
      });
    });
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const { code, out, err } = await place.venturi("eval", "set.yaml", "--json", "--concurrency", "8");
    expect(code, err).to.equal(0);
    expect(err).to.include("going on from where it was interrupted");
    const { found } = read(out);
    expect(found.items).to.have.length(50);
    expect(new Set(found.items.map(({ run }) => run)).size).to.equal(50);
    expect(found.items.every(({ ok }) => ok)).to.equal(true);
    expect(place.orders).to.equal(50);
  });
});
