import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { eventsOf, startRun } from "../../chaos/attached.ts";
import { Replica } from "../../chaos/replica.ts";
import { freshSchema, sharedCluster } from "../../plugins/postgres/shared.ts";

describe("a run that waits for a person, over two processes of the service", function () {
  this.timeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), "venturi-approval-"));
  const effects = join(folder, "effects");
  const replicas: Replica[] = [];

  afterEach(async () => {
    for (const replica of replicas.splice(0)) await replica.kill();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  // A replica that is alive must not lose its run when the machine is busy.
  const lease = "2s";
  const journals = {
    sqlite: async () => ({ type: "sqlite", path: join(folder, "runs.db"), lease }),
    postgres: async () => ({
      type: "postgres",
      url: (await sharedCluster()).url,
      schema: freshSchema(),
      lease,
    }),
  };

  // Both engines at once: most of the time goes into starting processes and waiting for leases.
  it("goes on where its owner is dead, and after everyone was, in sqlite and postgres", async () => {
    writeFileSync(effects, "");
    await Promise.all(Object.entries(journals).map(async ([name, journal]) => survive(name, await journal())));
  });

  async function survive(name: string, journal: object): Promise<void> {
    const options = { folder, effects, journal: { ...journal } };
    const [owner, other] = [await Replica.make(`${name}-1`, options), await Replica.make(`${name}-2`, options)];
    replicas.push(owner, other);
    await Promise.all([owner.start(), other.start()]);

    const first = await askedOn(owner);
    await owner.kill();
    await approve(other, first);
    await checkFinished(other, first);

    const second = await askedOn(other);
    await other.kill();
    await owner.start();
    await approve(owner, second);
    await checkFinished(owner, second);
  }

  async function checkFinished(replica: Replica, { run, call }: Asked): Promise<void> {
    const events: RunEvent[] = [];
    for await (const event of eventsOf(replica.url, run)) events.push(event);
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
    const types = events.map(({ type }) => type);
    expect(types.at(-1)).to.equal("run.finished");
    for (const once of ["approval.requested", "approval.resolved", "tool.started", "tool.finished"]) {
      expect(types.filter((type) => type === once)).to.have.length(1);
    }
    const done = readFileSync(effects, "utf8").split("\n");
    expect(done.filter((line) => line === `refund ${run} ${call}`)).to.have.length(1);
  }
});

interface Asked {
  readonly run: string;
  readonly call: string;
}

async function askedOn(replica: Replica): Promise<Asked> {
  const run = await startRun(replica.url, "approval");
  for await (const event of eventsOf(replica.url, run)) {
    if (event.type === "approval.requested") return { run, call: event.call };
  }
  throw new Error("nobody was asked");
}

async function approve(replica: Replica, { run, call }: Asked): Promise<void> {
  const answer = await fetch(`${replica.url}/v1/runs/${run}/approvals/${encodeURIComponent(call)}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ approved: true }),
  });
  expect(answer.status, await answer.text()).to.be.lessThan(300);
}
