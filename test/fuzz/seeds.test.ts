import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { isSlow } from "../sweep.ts";
import { type Crash, fuzz } from "./target.ts";
import { openTargets } from "./targets.ts";

const seeds = fileURLToPath(new URL("../../../test/fuzz/seeds/", import.meta.url));

/** Every crash that fuzzing has found is tried again, and each target a little, so that it goes on working. */
describe("fuzzing", function () {
  this.timeout(180_000);
  let folder = "";
  let opened: Awaited<ReturnType<typeof openTargets>>;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "venturi-fuzz-"));
    opened = await openTargets(folder);
  });
  after(async () => {
    await opened.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  it("every target survives hostile input", async () => {
    for (const target of opened.targets) {
      const { crash } = await fuzz(target, { seed: 42, ms: isSlow ? 500 : 100 });
      expect(crash, target.name).to.equal(undefined);
    }
  });

  for (const file of globSync("*.json", { cwd: seeds })) {
    it(`the crash in ${file} stays away`, async () => {
      const { target: name, seed, path } = JSON.parse(readFileSync(join(seeds, file), "utf8")) as Crash; // written by main.ts
      const target = opened.targets.find((each) => each.name === name);
      if (target === undefined) return expect.fail(`there is no target ${name}`);
      const { crash } = await fuzz(target, { seed, path, ms: 20_000 });
      expect(crash).to.equal(undefined);
    });
  }
});
