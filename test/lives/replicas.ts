import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { sharedCluster } from "../plugins/postgres/shared.ts";
import { config, requestOf } from "./life/lives.ts";

describe("a question asked on one replica", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-lives-"));
  const open = new Set<Host>();
  after(async () => {
    for (const host of open) await host.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is answered on another, after both were restarted (PostgreSQL)", async () => {
    const { url } = await sharedCluster();
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(configFile, config(`{ type: postgres, url: "${url}", schema: lives, lease: 1s }`));
    const replica = async (): Promise<Host> => {
      const host = await openHost({ configFile, env: {}, log: silentLog });
      open.add(host);
      return host;
    };
    const close = async (host: Host): Promise<void> => {
      open.delete(host);
      await host.close();
    };
    const [first, second] = [await replica(), await replica()];
    const { run } = await first.runs.start(requestOf("asker"));
    const asked = await until(first, run, "question.asked");
    expect((await second.runs.pending(run)).map(({ message }) => message)).to.deep.equal(["Which day?"]);
    await close(first);
    await close(second);
    const [third, fourth] = [await replica(), await replica()];
    const answer = { call: String("call" in asked ? asked.call : ""), approved: true, answer: "Monday", by: "ana" };
    expect(await fourth.runs.signal(run, "approve", answer)).to.equal(true);
    const end = await until(third, run, "run.finished");
    expect(end).to.have.property("output", "All set.");
    const { events } = await third.runs.events(run, { limit: 200 });
    expect(events.filter(({ type }) => type === "question.asked")).to.have.length(1);
    expect(events.filter(({ type }) => type === "question.answered")).to.have.length(1);
  });
});

async function until(host: Host, run: string, type: RunEvent["type"]): Promise<RunEvent> {
  for await (const batch of host.runs.follow(run)) for (const event of batch) if (event.type === type) return event;
  throw new Error(`there was no ${type}`);
}
