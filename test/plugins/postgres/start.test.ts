import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Replica } from "../../chaos/replica.ts";
import { Cluster } from "./cluster.ts";
import { sharedCluster } from "./shared.ts";

describe("a service on postgres", function () {
  this.timeout(180_000);
  let folder: string;
  const effects = () => join(folder, "effects");
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-start-"));
    writeFileSync(effects(), "");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const replicaOn = (url: string) =>
    Replica.make("replica", { folder, effects: effects(), journal: { type: "postgres", url, schema: "start" } });

  it("starts while its database is down, says so, and goes on by itself when the database comes", async () => {
    const cluster = await Cluster.start();
    await cluster.down();
    const replica = await replicaOn(cluster.url);
    try {
      await replica.start();
      const unready = await fetch(`${replica.url}/readyz`);
      expect(unready.status).to.equal(503);
      expect(await unready.text())
        .to.include("journal_failed")
        .and.not.include("127.0.0.1")
        .and.not.include("cannot be reached");
      const refused = await startRun(replica);
      expect(refused.status).to.equal(503);
      expect(await refused.text()).to.include("journal_failed");
      await cluster.up();
      while ((await fetch(`${replica.url}/readyz`)).status !== 200) await new Promise((next) => setTimeout(next, 50));
      const answer = await startRun(replica);
      expect(answer.status).to.equal(200);
      expect(await answer.text()).to.include("w59");
    } finally {
      await replica.kill();
      await cluster.stop();
    }
  });

  it("does not start where waiting would not help, and says what would", async () => {
    const { port } = await sharedCluster();
    const replica = await replicaOn(`postgres://venturi@127.0.0.1:${port}/nothing`);
    const error = await replica.start().then(
      () => new Error("it started"),
      (thrown) => thrown,
    );
    expect(error.message).to.include("ended with 1").and.include("the database does not exist; create it");
  });
});

const startRun = (replica: Replica) =>
  fetch(`${replica.url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "shop", input: { text: "plain" } }),
  });
