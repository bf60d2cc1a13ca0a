import { expect } from "chai";
import { Client } from "pg";
import { migrations } from "../../../plugins/postgres/migrations.ts";
import { openJournal } from "./open.ts";
import { freshSchema, sharedCluster } from "./shared.ts";

describe("postgres migrations", () => {
  it("give every run of version 2 an owner: the caller whose key started it, or `default`", async () => {
    const { url } = await sharedCluster();
    const schema = freshSchema();
    const client = new Client(url);
    await client.connect();
    await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.journal (version integer NOT NULL)`);
    await client.query(`INSERT INTO ${schema}.journal VALUES (2)`);
    for (const migration of migrations.slice(0, 2)) await client.query(migration.replaceAll("$.", `${schema}.`));
    const insert = `INSERT INTO ${schema}.runs (run, key, session, agent, request, state) VALUES`;
    await client.query(`${insert} ('keyed', 'ada:k:1', 's', 'a', '{"agent":"a","input":{}}', 'ready'),
      ('plain', NULL, 's', 'a', '{"agent":"a","input":{}}', 'ready'),
      ('open', 'anyone:k:1', NULL, 'a', '{"agent":"a","input":{}}', 'done'),
      ('sub', 'agent:run_1:call_1', NULL, 'a', '{"agent":"a","input":{}}', 'done')`);
    const journal = openJournal(url, schema, { lease: 30_000, pooler: false });
    await journal.ping();
    const { runs } = await journal.list({ oldestFirst: true });
    expect(runs.map(({ run, tenant }) => [run, tenant])).to.deep.equal([
      ["keyed", "ada"],
      ["plain", "default"],
      ["open", "default"],
      ["sub", "default"],
    ]);
    const request = { agent: "a", input: {} };
    const again = async (tenant: string, key: string) =>
      (await journal.enqueue({ run: `new-${tenant}-${key}`, tenant, session: undefined, request, key })).run;
    expect(await again("ada", "caller:k:1")).to.equal("keyed");
    expect(await again("default", "caller:k:1")).to.equal("open");
    expect(await again("default", "agent:run_1:call_1")).to.equal("sub");
    expect(await again("bob", "caller:k:1")).to.equal("new-bob-caller:k:1");
    expect((await journal.claim("w", 10)).map(({ ownership }) => ownership.run)).to.include.members(["keyed", "plain"]);

    // A replica of the version before goes on until it is restarted.
    await client.query(`${insert} ('late', 'ada:k:2', NULL, 'a', '{"agent":"a","input":{}}', 'ready')`);
    expect((await journal.get("late"))?.tenant).to.equal("default");
    await journal.audit({ action: "a", by: "b" });
    for (const attempt of ["UPDATE $.audit SET actor = 'x'", "DELETE FROM $.audit", "TRUNCATE $.audit"]) {
      const refused = await client.query(attempt.replace("$", schema)).catch((thrown: Error) => thrown);
      expect(String(refused)).to.include("append-only");
    }
    await client.end();
    await journal.close();
  });
});
