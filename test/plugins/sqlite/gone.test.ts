import { readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { SqliteJournal } from "../../../plugins/sqlite/journal.ts";
import type { Log } from "../../../src/core/ports/log.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { claimed, put, text } from "../../../src/testing/journal-bench.ts";
import { testFolder } from "../../host/folder.ts";
import { freshFile, temporaryFolder } from "./folder.ts";

function recorder(): { log: Log; errors: string[]; reasons: string[]; next(): Promise<string> } {
  const errors: string[] = [];
  const reasons: string[] = [];
  let wake: (message: string) => void = () => {};
  const error = (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
    errors.push(message);
    reasons.push(String(fields.error));
    wake(message);
  };
  const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error };
  const next = () =>
    errors[0] !== undefined ? Promise.resolve(errors[0]) : new Promise<string>((resolve) => (wake = resolve));
  return { log, errors, reasons, next };
}

const removeAll = (file: string) => {
  for (const name of readdirSync(dirname(file))) {
    if (join(dirname(file), name).startsWith(file)) rmSync(join(dirname(file), name));
  }
};

describe("a journal whose file is removed while it is written to", () => {
  const folder = temporaryFolder();

  it("acknowledges nothing more, says so, and makes no empty file in its place", async () => {
    const file = freshFile(folder);
    const { log, next } = recorder();
    const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 100, watch: 20 }, log);
    const { ownership } = await claimed(journal);
    expect(await put(journal, ownership, [text("a")])).to.equal(true);
    removeAll(file);
    const refused = await put(journal, ownership, [text("lost")]).catch((thrown) => thrown);
    expect(refused).to.include({ code: "journal_failed" });
    expect(refused.message).to.contain("was removed while the service was writing to it");
    expect(await next()).to.equal("the journal's file is gone; new runs are refused");
    expect((await journal.ping().catch((thrown) => thrown)).code).to.equal("journal_failed");
    expect(readdirSync(dirname(file)).filter((name) => join(dirname(file), name) === file)).to.deep.equal([]);
    await journal.close();
  });

  it("goes on when the file is put back, and refuses another one in its place", async () => {
    const file = freshFile(folder);
    const journal = new SqliteJournal({ file, lease: 30_000, busyTimeout: 100, watch: 20 });
    const { ownership } = await claimed(journal);
    renameSync(file, `${file}.away`);
    expect((await put(journal, ownership, [text("a")]).catch((thrown) => thrown)).code).to.equal("journal_failed");
    renameSync(`${file}.away`, file);
    expect(await put(journal, ownership, [text("a")])).to.equal(true);
    const other = new SqliteJournal({ file: freshFile(folder), lease: 30_000, busyTimeout: 100, watch: 20 });
    await other.ping();
    await other.close();
    renameSync(file, `${file}.away`);
    renameSync(freshName(folder), file);
    const refused = await put(journal, ownership, [text("b")]).catch((thrown) => thrown);
    expect(refused.message).to.contain("was replaced by another");
    await journal.close();
  });
});

/** The file that was made last. */
const freshName = (folder: string): string => {
  const files = readdirSync(folder).filter((name) => /^\d+\.db$/.test(name));
  return join(folder, `${Math.max(...files.map((name) => Number.parseInt(name, 10)))}.db`);
};

describe("a service whose journal is removed", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service | undefined;
  afterEach(() => service?.drain());

  it("is not ready, refuses runs with 503 and logs an error, within a second", async () => {
    const configFile = folder.write({
      "venturi.yaml":
        "providers: { demo: { type: simulator, pace: 0 } }\nagents: { a: { model: demo/small } }\nchannels: { http: {} }\n" +
        "server: { listen: 0 }\nlimits: { drain: 100ms }\ntelemetry: { logs: { level: silent } }\n",
    });
    const { log, next, reasons } = recorder();
    service = await openService({ configFile, log, telemetry: noTelemetry });
    const { url } = service;
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    removeAll(folder.path("data/venturi.db"));
    await next();
    expect((await fetch(`${url}/readyz`)).status).to.equal(503);
    const refused = await fetch(`${url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent: "a", input: "hi" }),
    });
    expect(refused.status).to.equal(503);
    const said = await refused.text();
    expect(said).to.contain("its file was removed").and.not.contain(folder.path("data"));
    expect(reasons.join()).to.contain(folder.path("data/venturi.db"));
  });
});
