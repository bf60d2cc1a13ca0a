import { expect } from "chai";
import type { Digest } from "../../../src/core/run/digest.ts";
import { Bench, engines } from "./bench.ts";

interface List {
  readonly runs: readonly { readonly run: string; readonly status: string; readonly digest?: Digest }[];
  readonly cursor?: string;
}

interface Sums {
  readonly runs: number;
  readonly failed: number;
  readonly p50: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface Totals {
  readonly all: Sums;
  readonly groups: readonly Sums[];
  readonly times: readonly { readonly runs: number }[];
  readonly complete: boolean;
}

for (const engine of Object.keys(engines)) {
  describe(`GET /v1/runs with filters, on ${engine}`, function () {
    this.timeout(180_000);
    const bench = new Bench(engine);
    let sum = "";
    let other = "";
    let bobs = "";
    before(async () => {
      await bench.open();
      sum = await bench.run("ada", "What is 17 * 23?");
      other = await bench.run("plain", "Tell me about Lisbon and its trams.", { agent: "other" });
      bobs = await bench.run("bob", "Lisbon is mine.");
    });
    after(() => bench.close());
    const found = async (query: string, key = "ada") => {
      const { status, body } = await bench.ask<List>(key, `/v1/runs?${query}`);
      expect(status, query).to.equal(200);
      return body.runs.map(({ run }) => run);
    };

    it("finds ended runs by words, tool, model, duration, key and time", async () => {
      expect(await found("q=lisbon%20tram")).to.deep.equal([other]);
      expect(await found("q=391")).to.deep.equal([sum]);
      expect(await found("q=nothing-of-the-kind")).to.deep.equal([]);
      expect(await found("tool=calculator")).to.deep.equal([sum]);
      expect(await found("model=demo/small")).to.deep.equal([other, sum]);
      expect(await found("min=3600000")).to.deep.equal([]);
      expect(await found("key=plain")).to.deep.equal([other]);
      expect(await found("since=2020-01-01&until=2021-01-01")).to.deep.equal([]);
      expect(await found(`since=${Date.now() - 600_000}`)).to.deep.equal([other, sum]);
      expect((await bench.ask("ada", "/v1/runs?since=yesterday")).status).to.equal(400);
    });

    it("finds runs by metadata, and sorts them by duration and cost", async () => {
      const slow = await bench.run("ada", "slowly", { metadata: { customer: "c 1", tier: 2 } });
      expect(await found("metadata.customer=c%201")).to.deep.equal([slow]);
      expect(await found("metadata.customer=c%201&metadata.tier=2&agent=assistant")).to.deep.equal([slow]);
      expect(await found("metadata.customer=c%201&metadata.tier=3")).to.deep.equal([]);
      expect(await found("metadata.customer=c%201", "bob")).to.deep.equal([]);
      expect(await found("metadata.customer=c%201", "narrow")).to.deep.equal([]);
      expect(await found("sort=longest&limit=1")).to.deep.equal([slow]);
      expect(await found("sort=longest", "bob")).to.deep.equal([bobs]);
      expect(await found("sort=oldest")).to.deep.equal([sum, other, slow]);
      const { body } = await bench.ask<List>("ada", "/v1/runs?sort=costliest");
      const costs = body.runs.map(({ digest }) => digest?.cost ?? 0);
      expect(costs)
        .to.have.length(3)
        .and.deep.equal([...costs].sort((left, right) => right - left));
      const { usage, cost } = body.runs.find(({ run }) => run === sum)?.digest ?? {};
      const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0 } = usage ?? {};
      const expected = ((inputTokens - cacheReadTokens) * 2 + cacheReadTokens * 0.5 + outputTokens * 10) / 1e6;
      expect(cost).to.be.closeTo(expected, 1e-12).and.to.be.greaterThan(0);
      for (const wrong of ["metadata.=x", "metadata=x", "sort=best", "agnet=assistant", "metadata.a=1&metadata.a=2"]) {
        expect((await bench.ask("ada", `/v1/runs?${wrong}`)).status, wrong).to.equal(400);
      }
      const { body: refused } = await bench.ask<{ error: { err: string } }>("ada", "/v1/runs?agnet=assistant");
      expect(refused.error.err).to.include("agnet").and.include("agent");
    });

    it("shows the runs of other tenants to a key that sees all, and lets it change none of them", async () => {
      expect(await found("tenant=bob", "root")).to.deep.equal([bobs]);
      expect(await found("", "root")).to.include.members([bobs, sum]);
      expect(await found("tenant=ada", "ada"))
        .to.include(sum)
        .and.not.include(bobs);
      for (const key of ["ada", "narrow", "operator"]) {
        expect((await bench.ask(key, "/v1/runs?tenant=bob")).status, key).to.equal(403);
        expect((await bench.ask(key, `/v1/runs/${bobs}`)).status, key).to.equal(404);
      }
      const { body } = await bench.ask<{ tenant: string }>("root", `/v1/runs/${bobs}`);
      expect(body.tenant).to.equal("bob");
      const { run, call } = await bench.question("bob");
      const refused = async (path: string, sent: { method?: string; body?: unknown }) =>
        expect((await bench.ask("root", path, sent)).status, path).to.equal(404);
      await refused(`/v1/runs/${run}/cancel`, { body: {} });
      await refused(`/v1/runs/${run}/messages`, { body: { text: "hello" } });
      await refused(`/v1/runs/${run}/approvals/${call}`, { body: { approved: true } });
      await refused(`/v1/runs/${bobs}/fork`, { body: { after: 1 } });
      await refused(`/v1/runs/${bobs}`, { method: "DELETE" });
      expect(
        (await bench.ask("root", `/v1/runs/${run}/events`, { headers: { accept: "application/json" } })).status,
      ).to.equal(200);
      await bench.ask("bob", `/v1/runs/${run}/cancel`, { body: {} });
    });

    it("shows each ended run with its digest", async () => {
      const { body } = await bench.ask<List>("ada", "/v1/runs?tool=calculator");
      const { digest } = body.runs[0] ?? {};
      expect(digest).to.include({ run: sum, agent: "assistant", by: "ada", calls: 1, rounds: 2, status: "finished" });
      expect(digest?.usage.outputTokens).to.be.greaterThan(0);
      expect(Object.values(digest?.timing ?? {}).reduce((total, ms) => total + ms, 0)).to.be.closeTo(
        digest?.ms ?? 0,
        250 + (digest?.ms ?? 0) / 2, // events are written a little before or after the times between them are taken
      );
    });

    it("finds nothing of another tenant or of agents that the key may not use, and fills its pages", async () => {
      expect(await found("q=lisbon", "bob")).to.deep.equal([bobs]);
      expect(await found("q=391", "narrow")).to.deep.equal([]);
      expect(await found("q=lisbon", "narrow")).to.deep.equal([other]);
      expect((await bench.ask("blind", "/v1/runs?q=lisbon")).status).to.equal(403);
      await bench.run("ada", "Lisbon once more.", { agent: "other" });
      for (let count = 0; count < 3; count++) await bench.run("ada", "Lisbon for others.");
      const { body } = await bench.ask<List>("narrow", "/v1/runs?q=lisbon&limit=2");
      expect([body.runs.length, body.cursor]).to.deep.equal([2, undefined]);
    });

    it("totals are the sums over all runs that fit, and of their groups", async () => {
      await bench.run("ada", "status=400", { agent: "other" });
      const every = async (query: string) => {
        const digests: Digest[] = [];
        let cursor = "";
        do {
          const { body } = await bench.ask<List>("ada", `/v1/runs?${query}&limit=1${cursor}`);
          digests.push(...body.runs.flatMap(({ digest }) => (digest === undefined ? [] : [digest])));
          cursor = body.cursor === undefined ? "" : `&cursor=${body.cursor}`;
        } while (cursor !== "");
        return digests;
      };
      const added = (digests: readonly Digest[]) => ({
        runs: digests.length,
        failed: digests.filter(({ status }) => status === "failed").length,
        inputTokens: digests.reduce((total, { usage }) => total + (usage.inputTokens ?? 0), 0),
        outputTokens: digests.reduce((total, { usage }) => total + (usage.outputTokens ?? 0), 0),
      });
      for (const query of ["", "agent=other", "key=plain", "tool=calculator", "q=lisbon", "status=failed", "min=1"]) {
        const digests = await every(query);
        for (const by of ["agent", "key", "model", "day", "tenant"]) {
          const { body } = await bench.ask<Totals>("ada", `/v1/totals?${query}&by=${by}`);
          const { all, groups, times, complete } = body;
          expect(all, query).to.deep.include(added(digests));
          expect(complete).to.equal(true);
          expect(times.reduce((total, { runs }) => total + runs, 0)).to.equal(digests.length);
          for (const figure of ["runs", "failed", "inputTokens", "outputTokens"] as const) {
            expect(
              groups.reduce((total, group) => total + group[figure], 0),
              `${query} ${by}`,
            ).to.equal(all[figure]);
          }
        }
        const took = digests.map(({ ms }) => ms).sort((one, other) => one - other);
        const { body } = await bench.ask<Totals>("ada", `/v1/totals?${query}`);
        const median = took[Math.ceil(took.length / 2) - 1] ?? 0;
        expect(body.all.p50).to.be.closeTo(median, median / 20 + 1);
      }
    });
  });
}
