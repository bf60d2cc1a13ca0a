import { expect } from "chai";
import type { Digest } from "../../../src/core/digest.ts";
import { Bench, engines } from "./bench.ts";

interface List {
  readonly runs: readonly { readonly run: string; readonly status: string; readonly digest?: Digest }[];
  readonly cursor?: string;
}

for (const engine of Object.keys(engines)) {
  describe(`GET /v1/runs with filters, on ${engine}`, function () {
    this.timeout(30_000);
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

    it("shows each ended run with its digest", async () => {
      const { body } = await bench.ask<List>("ada", "/v1/runs?tool=calculator");
      const { digest } = body.runs[0] ?? {};
      expect(digest).to.include({ run: sum, agent: "assistant", by: "ada", calls: 1, rounds: 2, status: "finished" });
      expect(digest?.usage.outputTokens).to.be.greaterThan(0);
      expect(Object.values(digest?.timing ?? {}).reduce((total, ms) => total + ms, 0)).to.be.closeTo(
        digest?.ms ?? 0,
        250,
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
  });
}
