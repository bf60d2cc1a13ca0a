import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { attacks } from "../../../src/testing/memory-attacks.ts";
import { keyOf } from "../../service.ts";

const may = ["start", "see", "steer"];
const keys = [
  { ...keyOf("ada", "ada-key"), may },
  { ...keyOf("bob", "bob-key"), may },
  { ...keyOf("reader", "reader-key"), tenant: "ada", may: ["see"] },
  { ...keyOf("narrow", "narrow-key"), tenant: "ada", agents: ["other"], may },
];
const config = `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: keeper
        turns:
          - calls:
              - { name: memorize, arguments: { text: "Ana likes green tea" } }
              - { name: profile, arguments: { patch: [{ op: add, path: /name, value: Ana }], why: she said so } }
          - { text: "Noted." }
memories:
  notes: { type: sqlite, path: ./notes.db, busyTimeout: 300ms, longest: 100, most: 50 }
  here: { type: memory }
tools:
  memorize: { type: memorize, store: notes, scope: session }
  profile: { type: remember, scope: session }
  recall: { type: recall, store: here }
agents:
  keeper: { model: demo/keeper, tools: [memorize, profile] }
  other: { model: demo/keeper, tools: [recall] }
journal: { type: sqlite, path: ./runs.db }
channels: { http: {} }
telemetry: off
server: { listen: 0, auth: { keys: ${JSON.stringify(keys)} } }
`;

describe("/v1/memory/…/notes", () => {
  let service: Service;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "venturi-notes-"));
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(configFile, config);
    service = await openService({ configFile, env: {}, log: silentLog });
  });
  after(async () => {
    await service.drain();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(key: string, path: string, init: { method?: string; body?: unknown } = {}) {
    const { method = "GET", body } = init;
    const response = await fetch(`${service.url}/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}-key`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }
  const put = (key: string, path: string, text: string) => ask(key, path, { method: "PUT", body: { text } });
  const remove = (key: string, path: string) => ask(key, path, { method: "DELETE" });
  const idsOf = ({ body }: { body: { notes: { id: string }[] } }) => body.notes.map(({ id }) => id);
  const of = "memory/user/ana/notes/notes";

  it("puts, replaces, finds, lists and erases notes, within their bounds", async () => {
    expect((await put("ada", `${of}/tea`, "Ana drinks green tea")).body).to.deep.equal({ id: "tea", outcome: "added" });
    expect((await put("ada", `${of}/tea`, "Ana drinks white tea")).body.outcome).to.equal("replaced");
    await put("ada", `${of}/dog`, "Ana has a dog");
    const found = await ask("reader", `${of}?query=which%20tea`);
    expect(idsOf(found)).to.deep.equal(["tea"]);
    expect(found.body.notes[0]).to.include({ text: "Ana drinks white tea", by: "ada", owner: "ana", scope: "user" });
    expect((await ask("ada", `${of}/tea`)).body.text).to.equal("Ana drinks white tea");
    const first = await ask("ada", `${of}?limit=1`);
    expect([idsOf(first), first.body.next]).to.deep.equal([["dog"], "dog"]);
    expect(idsOf(await ask("ada", `${of}?limit=1&after=dog`))).to.deep.equal(["tea"]);
    const long = await put("ada", `${of}/long`, "x".repeat(101));
    expect([long.status, long.body.error.op, long.body.error.code]).to.deep.equal([413, "memory.put", "too_large"]);
    expect((await put("ada", `${of}/a%20b`, "x")).status).to.equal(400);
    expect((await put("ada", `${of}/blank`, "  ")).status).to.equal(400);
    expect((await ask("ada", `${of}?limit=51`)).status).to.equal(400);
    expect((await ask("ada", `${of}/none`)).status).to.equal(404);
    expect((await ask("ada", "memory/user/ana/nothing/notes")).status).to.equal(404);
    expect((await put("reader", `${of}/x`, "x")).status).to.equal(403);
    expect((await remove("reader", of)).status).to.equal(403);
    expect((await remove("ada", `${of}/dog`)).body).to.deep.equal({ removed: 1 });
    expect((await remove("ada", of)).body).to.deep.equal({ removed: 1 });
    expect(idsOf(await ask("ada", `${of}?query=tea`))).to.deep.equal([]);
  });

  it("a key that is limited to some agents has their memories alone, and of agents' own notes theirs", async () => {
    await put("ada", `${of}/tea`, "Ana drinks green tea");
    expect((await ask("narrow", of)).status).to.equal(404);
    expect((await put("narrow", `${of}/x`, "x")).status).to.equal(404);
    expect((await remove("narrow", of)).status).to.equal(404);
    expect((await put("narrow", "memory/user/ana/here/notes/x", "mine")).status).to.equal(200);
    expect((await put("narrow", "memory/agent/other/here/notes/x", "mine")).status).to.equal(200);
    expect((await put("narrow", "memory/agent/keeper/here/notes/x", "mine")).status).to.equal(404);
    expect((await remove("narrow", "memory/user/ana")).status).to.equal(403);
  });

  it("no query of one tenant finds another's text", async () => {
    await put("ada", "memory/user/eve/notes/notes/a", "shared words secret tea");
    await put("ada", "memory/agent/keeper/notes/notes/a", "shared words secret tea");
    await put("bob", "memory/user/eve/notes/notes/b", "shared dog");
    let asked = 0;
    for (const query of attacks({ tenant: "ada", scope: "user", owner: "eve" })) {
      const { status, body } = await ask(
        "bob",
        `memory/user/eve/notes/notes?query=${encodeURIComponent(query.toWellFormed().slice(0, 2_000))}`,
      );
      expect(status, query.slice(0, 80)).to.equal(200);
      expect(JSON.stringify(body), query.slice(0, 80)).to.not.contain("secret tea");
      asked += 1;
    }
    expect(asked).to.be.greaterThan(200);
    expect((await ask("bob", `memory/user/eve/notes/notes?query=${"x".repeat(2_001)}`)).status).to.equal(400);
    expect((await remove("bob", "memory/user/eve")).body).to.deep.equal({ removed: 1 });
    expect(idsOf(await ask("ada", "memory/user/eve/notes/notes?query=tea"))).to.deep.equal(["a"]);
  });

  it("erasing a run erases the notes it put, and a session its notes and documents", async () => {
    const start = async (session: string) => {
      const body = { agent: "keeper", input: "I like tea", session };
      const { run } = (await ask("ada", "runs", { method: "POST", body })).body;
      return run as string;
    };
    const notes = async (session: string) => idsOf(await ask("ada", `memory/session/${session}/notes/notes`)).length;
    const documents = async (session: string) =>
      (await ask("ada", `memory/session/${session}`)).body.documents.length as number;
    const [first] = [await start("one"), await start("two"), await start("two")];
    await put("ada", "memory/session/two/notes/notes/x", "put by hand");
    expect([await notes("one"), await notes("two"), await documents("one"), await documents("two")]).to.deep.equal([
      1, 3, 1, 1,
    ]);
    expect((await remove("ada", `runs/${first}`)).status).to.equal(200);
    expect([await notes("one"), await notes("two"), await documents("two")]).to.deep.equal([0, 3, 1]);
    expect((await remove("ada", "sessions/two")).body.removed).to.have.length(2);
    expect([await notes("two"), await documents("two")]).to.deep.equal([0, 0]);
  });

  it("a key that is limited to some agents erases a session's runs and notes of these, and nothing of the others", async () => {
    await ask("narrow", "runs", { method: "POST", body: { agent: "other", input: "hello", session: "shared" } });
    await ask("ada", "runs", { method: "POST", body: { agent: "keeper", input: "I like tea", session: "shared" } });
    await put("narrow", "memory/session/shared/here/notes/x", "mine");
    expect((await remove("narrow", "sessions/shared")).body.removed).to.have.length(1);
    expect(idsOf(await ask("ada", "memory/session/shared/here/notes"))).to.deep.equal([]);
    expect(idsOf(await ask("ada", "memory/session/shared/notes/notes"))).to.have.length(1);
    expect((await ask("ada", "memory/session/shared")).body.documents).to.have.length(1);
    expect((await ask("ada", "sessions/shared")).body.runs).to.have.length(1);
  });

  it("what could not be erased because its memory was locked is erased by the same request later", async () => {
    const body = { agent: "keeper", input: "I like tea", session: "locked" };
    const { run } = (await ask("ada", "runs", { method: "POST", body })).body;
    await ask("ada", "runs", { method: "POST", body });
    expect((await remove("reader", `runs/${run}`)).status).to.equal(403);
    const notes = async () => idsOf(await ask("ada", "memory/session/locked/notes/notes")).length;
    for (const [path, left] of [
      [`runs/${run}`, 1],
      ["sessions/locked", 0],
    ] as const) {
      const other = new DatabaseSync(join(folder, "notes.db"));
      other.exec("BEGIN IMMEDIATE");
      expect((await remove("ada", path)).status).to.be.oneOf([503, 504]);
      other.exec("ROLLBACK");
      other.close();
      expect((await remove("ada", path)).status).to.equal(200);
      expect(await notes()).to.equal(left);
    }
    expect((await ask("ada", "memory/session/locked")).body.documents).to.deep.equal([]);
  });

  it("erasing a user erases documents and notes of every memory, and nobody else's", async () => {
    await put("ada", "memory/user/kim/notes/notes/a", "tea");
    await put("ada", "memory/user/kim/here/notes/a", "tea");
    await put("ada", "memory/user/kimberly/notes/notes/a", "tea");
    expect((await remove("ada", "memory/user/kim")).body).to.deep.equal({ removed: 2 });
    expect(idsOf(await ask("ada", "memory/user/kim/here/notes"))).to.deep.equal([]);
    expect(idsOf(await ask("ada", "memory/user/kimberly/notes/notes"))).to.deep.equal(["a"]);
  });

  it("what is kept in the process survives a reload of the configuration", async () => {
    await put("ada", "memory/user/zoe/here/notes/a", "tea");
    expect(await service.host.reload()).to.include({ ok: true });
    expect(idsOf(await ask("ada", "memory/user/zoe/here/notes"))).to.deep.equal(["a"]);
    await put("ada", "memory/user/zoe/notes/notes/a", "tea after the reload");
    expect(idsOf(await ask("ada", "memory/user/zoe/notes/notes?query=reload"))).to.deep.equal(["a"]);
  });
});
