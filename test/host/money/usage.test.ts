import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { venturi } from "../../cli/venturi.ts";

const hash = (key: string) => createHash("sha256").update(key).digest("hex");
const config = `
providers: { demo: { type: simulator, pace: 0, scenarios: [{ name: any, match: { text: "." }, turns: [{ text: ok, usage: { inputTokens: 1000, outputTokens: 10 } }] }] } }
agents: { a: { model: demo/large }, b: { model: demo/small }, "=c": { model: demo/small } }
prices: { demo/large: { input: 10, output: 100 } }
journal: { type: sqlite, path: ./usage.db }
server:
  listen: 0
  auth:
    keys:
      - { id: acme, sha256: ${hash("one")} }
      - { id: other, sha256: ${hash("two")} }
      - { id: boss, sha256: ${hash("three")}, tenants: all }
      - { id: narrow, sha256: ${hash("four")}, tenant: acme, agents: [b] }
`.replace(', "=c": { model: demo/small }', "");

interface Report {
  rows: Record<string, unknown>[];
  total: Record<string, unknown>;
}

describe("GET /v1/usage", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-"));
  let service: Service;
  let file: string;
  before(async () => {
    file = join(folder, "venturi.yaml");
    writeFileSync(file, config);
    service = await openService({ configFile: file, env: {}, log: silentLog, telemetry: noTelemetry });
    for (const [key, agent, user] of [
      ["one", "a", "ada"],
      ["one", "b", '=SUM(A1),"x"'],
      ["one", "a", undefined],
      ["two", "a", undefined],
    ] as const) {
      const response = await ask(key, "/v1/runs", {
        agent,
        input: "hi",
        ...(user === undefined ? {} : { metadata: { user } }),
      });
      expect(response.status, await response.clone().text()).to.equal(200);
    }
  });
  after(async () => {
    await service.drain();
    rmSync(folder, { recursive: true });
  });
  const ask = (key: string, path: string, body?: object, accept = "application/json") =>
    fetch(`${service.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        accept,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const report = async (key: string, query: string) => (await (await ask(key, `/v1/usage?${query}`)).json()) as Report;

  it("sums what the caller's tenant used, by what it is asked", async () => {
    const { rows, total } = await report("one", "by=agent,model");
    expect(rows).to.deep.equal([
      {
        agent: "a",
        model: "demo/large",
        generations: 2,
        failed: 0,
        unpriced: 0,
        cost: 0.022,
        inputTokens: 2000,
        outputTokens: 20,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
      {
        agent: "b",
        model: "demo/small",
        generations: 1,
        failed: 0,
        unpriced: 1,
        inputTokens: 1000,
        outputTokens: 10,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
    ]);
    expect(total).to.deep.include({ generations: 3, unpriced: 1, cost: 0.022 });
    expect((await report("one", "by=tenant")).rows.map(({ tenant }) => tenant)).to.deep.equal(["acme"]);
    expect((await report("one", "by=key&tenant=other")).rows).to.deep.equal([]);
    expect((await report("three", "by=tenant")).rows.map(({ tenant }) => tenant)).to.deep.equal(["acme", "other"]);
    expect((await report("three", "by=tenant&tenant=other")).total).to.deep.include({ generations: 1 });
    expect((await report("four", "by=day")).total).to.deep.include({ generations: 1, unpriced: 1 });
    expect((await report("one", "since=2001-01-01&until=2001-01-02")).rows).to.deep.equal([]);
    expect((await report("one", "since=1d")).rows).to.have.length(1);
  });

  it("is CSV on request, with names that cannot be formulas", async () => {
    const text = await (await ask("one", "/v1/usage?by=user&format=csv")).text();
    const [head, ...lines] = text.split("\r\n");
    expect(head).to.equal(
      "user,generations,failed,unpriced,cost,inputTokens,outputTokens,cacheReadTokens,cacheWriteTokens,reasoningTokens",
    );
    expect(lines).to.deep.equal([
      ",1,0,0,0.011,1000,10,0,0,0",
      `"'=SUM(A1),""x""",1,0,1,,1000,10,0,0,0`,
      "ada,1,0,0,0.011,1000,10,0,0,0",
      "",
    ]);
    const accepted = await ask("one", "/v1/usage?by=user", undefined, "text/csv");
    expect([accepted.headers.get("content-type"), await accepted.text()]).to.deep.equal([
      "text/csv; charset=utf-8",
      text,
    ]);
  });

  it("refuses unknown dimensions, and lists the known ones", async () => {
    for (const [query, said] of [
      ["by=color", 'by: "color" is none of day, tenant, agent, model, key, user'],
      ["by=day,day", 'by: "day" is listed twice'],
      ["since=yesterday", "since: expected a day such as 2026-11-17, or how long ago, such as 7d"],
      ["until=2026-13-45", "until: expected a day such as 2026-11-17, or how long ago, such as 7d"],
    ] as const) {
      const response = await ask("one", `/v1/usage?${query}`);
      expect(response.status).to.equal(400);
      expect(JSON.stringify(await response.json())).to.contain(JSON.stringify(said).slice(1, -1));
    }
  });

  it("is what `venturi usage` prints, of all tenants", async () => {
    const { exit, out } = await venturi(["--config", file, "usage", "--by", "tenant,agent"], {});
    expect(exit).to.equal(0);
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).to.deep.equal([
      ["tenant", "agent", "cost", "generations", "failed", "input", "cached", "output", "unpriced"],
      ["acme", "a", "$0.022", "2", "0", "2000", "0", "20", "0"],
      ["acme", "b", "?", "1", "0", "1000", "0", "10", "1"],
      ["other", "a", "$0.011", "1", "0", "1000", "0", "10", "0"],
      ["total", "$0.033", "4", "0", "4000", "0", "40", "1"],
      [""],
    ]);
    const json = await venturi(["--config", file, "usage", "--by", "day", "--tenant", "other", "--json"], {});
    expect(JSON.parse(json.out).total).to.deep.include({ generations: 1, cost: 0.011 });
  });
});
