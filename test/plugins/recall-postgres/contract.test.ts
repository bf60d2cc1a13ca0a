import { expect } from "chai";
import { Database } from "../../../plugins/postgres/database.ts";
import { NotesInPostgres } from "../../../plugins/postgres/notes.ts";
import { migrateNotes } from "../../../plugins/postgres/notes-schema.ts";
import plugin from "../../../plugins/postgres/recall.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { PluginLoader } from "../../../src/host/plugins/plugin-loader.ts";
import { memoryContract } from "../../../src/testing/memory.ts";
import { testPluginContext } from "../../../src/testing/tool-call.ts";
import { freshSchema, sharedCluster } from "../postgres/shared.ts";

/** A server with pgvector, where there is one. */
const vectorUrl = process.env.VENTURI_PGVECTOR_URL;

describe("notes in PostgreSQL", () => {
  let schema = "";
  async function open(url?: string): Promise<NotesInPostgres> {
    const servers = {
      url: url ?? (await sharedCluster()).url,
      pool: 4,
      connectTimeout: 30_000,
      timeout: 60_000,
      pooler: false,
    };
    const store = new NotesInPostgres(new Database({ ...servers, schema, migrate: migrateNotes }), silentLog);
    await store.open();
    return store;
  }
  const openNew = (url?: string) => {
    schema = freshSchema();
    return open(url);
  };
  memoryContract("postgres", { open: () => openNew(), reopen: () => open() });
  if (vectorUrl !== undefined)
    memoryContract("postgres with pgvector", { open: () => openNew(vectorUrl), reopen: () => open(vectorUrl) });

  it("vectors that were put before there was pgvector are compared by it", async function () {
    if (vectorUrl === undefined) this.skip();
    const store = await openNew(vectorUrl);
    const place = { tenant: "t", scope: "user" as const, owner: "ana" };
    const vector = { model: "m", values: Float32Array.from([0.6, 0.8]) };
    const note = { id: "a", text: "x", at: 1, scope: place.scope, owner: place.owner };
    await store.put({ tenant: "t", note, vector, most: 9, existing: "keep" });
    const database = new Database({
      url: vectorUrl,
      schema,
      pool: 1,
      connectTimeout: 30_000,
      timeout: 60_000,
      pooler: false,
    });
    await database.query("test", `ALTER TABLE ${schema}.notes DROP COLUMN embedding`, []);
    const again = await open(vectorUrl);
    const asked = { places: [place], text: "zzz", vector, near: 0.9, top: 5 };
    expect((await again.search(asked)).map(({ id }) => id)).to.deep.equal(["a"]);
    const [row] = await database.query<{ embedding: string }>(
      "test",
      `SELECT embedding::text FROM ${schema}.notes`,
      [],
    );
    expect(row?.embedding).to.equal("[0.6,0.8]");
    for (const each of [store, again, database]) await each.close();
  });

  it("two that open a new schema at once make it once", async () => {
    schema = freshSchema();
    const stores = await Promise.all([open(), open(), open()]);
    const place = { tenant: "t", scope: "user" as const, owner: "ana" };
    for (const store of stores) expect(await store.list(place, { limit: 1 })).to.deep.equal([]);
    for (const store of stores) await store.close();
  });

  it("a server that is not there is `unavailable` with the reason, and a wrong database is refused at once", async () => {
    const { url } = await sharedCluster();
    const create = (given: string) =>
      Promise.resolve(plugin.create(plugin.options.parse({ url: given, connectTimeout: "1s" }), testPluginContext()));
    const store = await create("postgres://nobody@127.0.0.1:1/none");
    const thrown = await store.get({ tenant: "t", scope: "user", owner: "a" }, "x").catch((error: unknown) => error);
    expect(thrown).to.include({ op: "memory.read", code: "unavailable" });
    expect(String(thrown)).to.contain("the memory's database");
    await store.close?.();
    const refused = await create(url.replace(/\/[^/]*$/, "/none")).catch((error: unknown) => error);
    expect(refused).to.include({ op: "memory.open", code: "unavailable" });
    expect(String(refused)).to.contain("does not exist");
  });

  it("comes with the package of the journal, by its own name", async () => {
    const loader = new PluginLoader();
    expect(loader.has("recall-postgres")).to.equal(true);
    expect(loader.names()).to.include("recall-postgres");
    expect((await loader.get("recall-postgres")).plugin.kind).to.equal("memory");
  });
});
