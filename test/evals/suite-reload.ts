import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { Place } from "./place.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

describe("venturi reload --shadow", function () {
  this.timeout(120_000);
  const place = new Place(20, (model, amount) => model === "worse" && amount % 2 === 0);
  let service: ReturnType<typeof spawn>;
  before(async () => {
    await place.record(20);
    const words = [
      bin,
      "start",
      "--config",
      place.file("venturi.yaml"),
      "--set",
      "server.listen=0",
      "--set",
      "channels={http: {}}",
    ];
    service = spawn(process.execPath, words, { cwd: place.folder, stdio: ["ignore", "pipe", "pipe"] });
    for (let waited = 0; waited < 200; waited++) {
      if ((await place.venturi("validate")).code === 0 && waited > 0) break;
    }
  });
  after(async () => {
    service.kill("SIGTERM");
    await new Promise((resolve) => service.once("exit", resolve));
    place.remove();
  });

  it("refuses a revision on which recorded runs get worse, takes a good one, and runs no tool", async () => {
    const good = place.read("venturi.yaml");
    place.write("venturi.yaml", good.replace("model: demo/good", "model: demo/worse"));
    const refused = await place.venturi("reload", "--shadow", "last:20", "--require");
    expect(refused.code, refused.err).not.to.equal(0);
    expect(refused.err).to.include("not reloaded: buyer: exact: worse than the baseline by 0.500");
    expect(refused.err).to.include("the last 20 runs of buyer on the new configuration");
    expect(refused.err).not.to.include("has reloaded");
    place.write("venturi.yaml", good.replace("model: demo/good", "model: demo/a"));
    const taken = await place.venturi("reload", "--shadow", "last:20", "--require");
    expect(taken.code, taken.err).to.equal(0);
    expect(taken.err).to.include("has reloaded");
    expect(place.orders).to.equal(20);
    expect((await place.venturi("reload", "--shadow", "20")).code).to.equal(2);
    expect((await place.venturi("reload", "--require")).code).to.equal(2);
  });
});
