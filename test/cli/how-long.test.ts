import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

describe("how long a run took", () => {
  const folder = testFolder();
  const call = async (...words: string[]): Promise<string> => {
    const { exit, out, err } = await venturi(words, {}, folder.path("."));
    expect(exit, err).to.equal(0);
    return out;
  };

  it("is the same in a list and a comparison, with its time before the first event, also where it was imported", async () => {
    await call("run", "assistant", "What is 17 * 23?");
    const [run = ""] = /run_[0-9a-z]+/.exec(await call("runs")) ?? [];
    await call("export", run, "--output", "run.ndjson");
    const text = readFileSync(folder.path("run.ndjson"), "utf8");
    const waited = text.replace(/"timing":\{[^}]*\}/g, (parts) => parts.replace(/:\d+/g, ":0").replace(/:0/, ":84000"));
    expect(waited).not.to.equal(text);
    writeFileSync(folder.path("waited.ndjson"), waited);
    await call("import", "waited.ndjson", "--as", "run_waited");
    expect(await call("runs")).to.match(/run_waited\s+finished\s+84\.0 s/);
    const { a } = JSON.parse(await call("compare", "run_waited", run, "--json")) as { a: { ms: number } };
    expect(a.ms).to.equal(84_000);
  });
});
