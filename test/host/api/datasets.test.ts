import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { casesOf } from "../../../src/evals/dataset/cases.ts";
import { readDataset } from "../../../src/evals/dataset/read.ts";
import { Recordings } from "../../../src/host/recordings/recordings.ts";
import { sourceOf } from "../../../src/host/recordings/run-source.ts";
import { Bench } from "./bench.ts";

interface Answer {
  readonly dataset: string;
  readonly file: string;
  readonly error?: { readonly op: string; readonly code: string; readonly err: string };
}

describe("adding runs to datasets over HTTP", () => {
  const bench = new Bench("sqlite", "datasets: ./cases");
  before(() => bench.open());
  after(() => bench.close());
  const add = (run: string, body: unknown, key = "ada") =>
    bench.ask<Answer>(key, `/v1/runs/${run}/dataset`, { body: body as never });
  const codeOf = async (asked: ReturnType<typeof add>) => {
    const { status, body } = await asked;
    return [status, body.error?.op, body.error?.code];
  };
  const folder = join(bench.folder, "cases", "ada");
  const names = async (key: string) => (await bench.ask<{ datasets: string[] }>(key, "/v1/datasets")).body.datasets;

  it("writes a set that an eval reads, with a redacted copy of the run", async () => {
    const run = await bench.run("ada", "leak it");
    const { status, body } = await add(run, { dataset: "leaks", note: "it said a key" });
    expect(status).to.equal(201);
    expect(body).to.deep.equal({ dataset: "leaks", run, file: `leaks.runs/${run}.jsonl` });
    const file = join(folder, "leaks.jsonl");
    const set = readDataset(file, readFileSync(file, "utf8"));
    const journal = bench.service?.host.journal ?? expect.fail("no service");
    const [only] = await casesOf(set, sourceOf(new Recordings(journal)));
    expect(only).to.include({ id: run, run, note: "it said a key" });
    const copy = readFileSync(join(folder, body.file), "utf8");
    expect(copy)
      .to.include("your key is")
      .and.not.to.match(/abcdefghijklmnop|sk-live-0123456789/);
    expect(await names("ada")).to.deep.equal(["leaks"]);
  });

  it("refuses a run twice, also at the same time, and an id that is taken, and leaves the set as it was", async () => {
    const [run, other] = [await bench.run("ada", "hello"), await bench.run("ada", "hello")];
    const all = await Promise.all([1, 2, 3].map(() => add(run, { dataset: "twice", id: "one" })));
    expect(all.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
    const before = readFileSync(join(folder, "twice.jsonl"), "utf8");
    expect(await codeOf(add(run, { dataset: "twice", id: "two" }))).to.deep.equal([409, "dataset.add", "conflict"]);
    expect(await codeOf(add(other, { dataset: "twice", id: "one" }))).to.deep.equal([409, "dataset.add", "conflict"]);
    expect(readFileSync(join(folder, "twice.jsonl"), "utf8")).to.equal(before);
    expect(readdirSync(join(folder, "twice.runs"))).to.deep.equal([`${run}.jsonl`]);
  });

  it("goes on after a set whose last line has no end, and after a crash between copy and line", async () => {
    const [run, next] = [await bench.run("ada", "hello"), await bench.run("ada", "hello")];
    await add(run, { dataset: "cut" });
    const file = join(folder, "cut.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").trimEnd());
    writeFileSync(join(folder, "cut.runs", `${next}.jsonl`), '{"venturi":"dataset-run"');
    expect((await add(next, { dataset: "cut" })).status).to.equal(201);
    const items = readDataset(file, readFileSync(file, "utf8")).items.map(({ item }) => item);
    expect(items).to.deep.equal([{ file: `cut.runs/${run}.jsonl` }, { file: `cut.runs/${next}.jsonl` }]);
  });

  it("is for keys that may see and steer, of the run's own tenant, and takes no name that leaves the folder", async () => {
    const run = await bench.run("ada", "hello");
    expect(await codeOf(add(run, { dataset: "x" }, "plain"))).to.include.members([403, "forbidden"]);
    expect(await codeOf(add(run, { dataset: "x" }, "blind"))).to.include.members([403, "forbidden"]);
    expect(await codeOf(add(run, { dataset: "x" }, "bob"))).to.include.members([404, "not_found"]);
    const bobs = await bench.run("bob", "hello");
    expect(await codeOf(add(bobs, { dataset: "x" }, "root"))).to.deep.equal([403, "dataset.add", "forbidden"]);
    expect((await add(bobs, { dataset: "mine" }, "bob")).status).to.equal(201);
    expect(await names("ada")).not.to.include("mine");
    expect(await names("bob")).to.deep.equal(["mine"]);
    for (const dataset of ["", "../x", "a/b", "a.b", ".x", "-x", "ä", "x".repeat(65), 7])
      expect(await codeOf(add(run, { dataset })), String(dataset)).to.include.members([400, "invalid_input"]);
    expect(existsSync(join(folder, "x.jsonl"))).to.equal(false);
  });

  it("waits for the run's end, and says what to set where there is no folder", async () => {
    const { body } = await bench.ask<{ run: string }>("ada", "/v1/runs", {
      body: { agent: "assistant", input: "slowly" },
      headers: { prefer: "respond-async" },
    });
    expect(await codeOf(add(body.run, { dataset: "x" }))).to.deep.equal([409, "dataset.add", "conflict"]);
    await bench.ask("ada", `/v1/runs/${body.run}/cancel`, { body: {} });
    const without = new Bench("memory");
    await without.open();
    try {
      const run = await without.run("ada", "hello");
      const refused = await without.ask<Answer>("ada", `/v1/runs/${run}/dataset`, { body: { dataset: "x" } });
      expect([refused.status, refused.body.error?.op]).to.deep.equal([404, "dataset.add"]);
      expect(refused.body.error?.err).to.include("set `datasets: ./cases` in the configuration");
      expect((await without.ask("ada", "/v1/datasets")).status).to.equal(404);
    } finally {
      await without.close();
    }
  });
});
