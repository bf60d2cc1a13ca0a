import { expect } from "chai";
import type { EventOf, EventType, RunEvent } from "../../../src/core/run/events.ts";
import { Bench, engines } from "./bench.ts";

const of = <T extends EventType>(events: readonly RunEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type);

interface Failed {
  readonly error: { readonly code: string; readonly err: string };
}
interface Sessions {
  readonly sessions: readonly { readonly session: string; readonly last: { readonly run: string } }[];
  readonly cursor?: string;
}

for (const engine of Object.keys(engines)) {
  describe(`what people do with runs, on ${engine}`, function () {
    this.timeout(180_000);
    const bench = new Bench(engine);
    before(() => bench.open());
    after(() => bench.close());

    it("an approval with other arguments: the tool gets them, the model sees that, the journal has both", async () => {
      const { run, call } = await bench.question("ada");
      const path = `/v1/runs/${run}/approvals/${call}`;
      const wrong = await bench.ask<Failed>("ada", path, { body: { approved: true, arguments: { expression: 5 } } });
      expect([wrong.status, wrong.body.error.code]).to.deep.equal([400, "invalid_input"]);
      const refused = await bench.ask("ada", path, { body: { approved: false, arguments: { expression: "1" } } });
      expect(refused.status).to.equal(400);
      const changed = { expression: "2 * 3" };
      expect((await bench.ask("bob", path, { body: { approved: true, arguments: changed } })).status).to.equal(404);
      expect((await bench.ask("plain", path, { body: { approved: true, arguments: changed } })).status).to.equal(403);
      expect((await bench.ask("ada", path, { body: { approved: true, arguments: changed } })).status).to.equal(202);
      expect((await bench.ask("ada", path, { body: { approved: true } })).status).to.equal(409);
      const events = await bench.events(run);
      expect(of(events, "tool_call.ready")[0]?.arguments).to.deep.equal({ expression: "17 * 23" });
      expect(of(events, "approval.resolved")[0]).to.deep.include({ approved: true, by: "ada", arguments: changed });
      expect(of(events, "tool.finished")[0]?.output).to.include('"result":6');
    });

    it("an approval for the run covers the tool's other calls, and is not taken over by a fork", async () => {
      const { run, call } = await bench.question("ada", { input: "often pay" });
      const path = `/v1/runs/${run}/approvals/${call}`;
      expect((await bench.ask("ada", path, { body: { approved: false, for: "run" } })).status).to.equal(400);
      expect((await bench.ask("ada", path, { body: { approved: true, for: "ever" } })).status).to.equal(400);
      expect((await bench.ask("bob", path, { body: { approved: true, for: "run" } })).status).to.equal(404);
      expect((await bench.ask("plain", path, { body: { approved: true, for: "run" } })).status).to.equal(403);
      expect((await bench.ask("ada", path, { body: { approved: true, for: "run" } })).status).to.equal(202);
      const events = await bench.events(run);
      expect(of(events, "tool.finished").map(({ ok }) => ok)).to.deep.equal([true, true, true]);
      expect(of(events, "approval.requested").length).to.be.at.most(2);
      const [first, ...others] = of(events, "approval.resolved");
      expect(first).to.include({ call, approved: true, for: "run", by: "ada" });
      for (const other of others)
        expect(other).to.include({ approved: true, reason: "allowed for this run", by: "ada" });
      const after = of(events, "round.finished")[0]?.seq ?? 0;
      const { body } = await bench.ask<{ run: string }>("ada", `/v1/runs/${run}/fork`, {
        body: { after, tools: "ask" },
      });
      const asked = await askedAgain(body.run);
      expect(asked.arguments).to.deep.equal({ expression: "1 + 3" });
      await bench.ask("ada", `/v1/runs/${body.run}/cancel`, { body: {} });
      const copied = of((await bench.events(body.run)).slice(0, after), "approval.resolved");
      expect(copied.map((event) => event.for)).to.deep.equal(copied.map(() => undefined));
    });

    it("the journal says whose key cancelled, steered and answered", async () => {
      const { run, call } = await bench.question("ada");
      const refused = await bench.ask("ada", `/v1/runs/${run}/messages`, { body: { text: "hurry", by: "bob" } });
      expect(refused.status).to.equal(400);
      await bench.ask("plain", `/v1/runs/${run}/messages`, { body: { text: "hurry" } });
      await bench.ask("ada", `/v1/runs/${run}/approvals/${call}`, { body: { approved: true } });
      const events = await bench.events(run);
      expect(of(events, "message.added")[0]).to.include({ by: "plain" });
      expect(of(events, "approval.resolved")[0]).to.include({ by: "ada" });
      const second = await bench.question("ada");
      await bench.ask("plain", `/v1/runs/${second.run}/cancel`, { body: { reason: "enough" } });
      const [failed] = of(await bench.events(second.run), "run.failed");
      expect(failed?.error).to.include({ err: "enough" });
      expect(failed?.error.details).to.include({ by: "plain" });
    });

    const askedAgain = async (run: string) => {
      for await (const batch of bench.service?.host.runs.follow(run) ?? []) {
        // One batch may have the question that was copied, too.
        const asked = of(batch, "approval.requested").findLast(
          ({ arguments: { expression } }) => expression === "1 + 3",
        );
        if (asked !== undefined) return asked;
      }
      throw new Error("it did not ask");
    };

    it("an approval with other arguments over a socket", async () => {
      const { run, call } = await bench.question("ada");
      const socket = await bench.socket("ada");
      socket.send({ type: "approve", run, call, approved: true, arguments: { expression: "2 * 4" } });
      expect(of(await bench.events(run), "tool.finished")[0]?.output).to.include('"result":8');
      socket.socket.close();
    });

    it("GET /v1/me tells what a key is and may", async () => {
      expect((await bench.ask("narrow", "/v1/me")).body).to.deep.equal({
        id: "narrow",
        tenant: "ada",
        agents: ["other"],
        may: ["start", "see", "steer", "inspect", "approve"],
      });
      expect((await bench.ask("blind", "/v1/me")).body).to.deep.equal({ id: "blind", tenant: "ada", may: ["start"] });
      expect((await bench.ask("nobody", "/v1/me")).status).to.equal(401);
    });

    it("GET /v1/sessions lists conversations by their newest run, page by page, each once", async () => {
      for (const session of ["one", "two", "three", "one"]) await bench.run("ada", `hello ${session}`, { session });
      await bench.run("ada", "no session");
      const narrow = await bench.run("ada", "hello again", { session: "two", agent: "other" });
      await bench.run("bob", "hello bob", { session: "bobs" });
      const all: string[] = [];
      let cursor = "";
      for (let pages = 0; pages < 20; pages++) {
        const { body } = await bench.ask<Sessions>("ada", `/v1/sessions?limit=2${cursor}`);
        all.push(...body.sessions.map(({ session }) => session));
        if (body.cursor === undefined) break;
        cursor = `&cursor=${encodeURIComponent(body.cursor)}`;
      }
      expect(all).to.deep.equal(["two", "one", "three"]);
      const scoped = (await bench.ask<Sessions>("narrow", "/v1/sessions")).body.sessions;
      expect(scoped.map(({ session, last }) => [session, last.run])).to.deep.equal([["two", narrow]]);
      const found = (await bench.ask<Sessions>("ada", "/v1/sessions?q=three")).body.sessions;
      expect(found.map(({ session }) => session)).to.deep.equal(["three"]);
      expect((await bench.ask("blind", "/v1/sessions")).status).to.equal(403);
    });

    it("DELETE erases an ended run everywhere, and refuses one that is under way", async () => {
      const run = await bench.run("ada", "erase zebra", { session: "gone" });
      const erase = (key: string, path: string) => bench.ask<Failed>(key, path, { method: "DELETE" });
      expect((await erase("bob", `/v1/runs/${run}`)).status).to.equal(404);
      expect((await erase("narrow", `/v1/runs/${run}`)).status).to.equal(404);
      expect((await erase("blind", `/v1/runs/${run}`)).status).to.equal(403);
      const waiting = await bench.question("ada");
      expect((await erase("ada", `/v1/runs/${waiting.run}`)).body.error.code).to.equal("conflict");
      expect((await erase("ada", `/v1/runs/${run}`)).body).to.deep.equal({ removed: [run] });
      for (const path of ["", "/events", "/trace", "/why"]) {
        expect((await bench.ask("ada", `/v1/runs/${run}${path}`)).status, path).to.equal(404);
      }
      expect((await bench.ask<{ runs: unknown[] }>("ada", "/v1/runs?q=zebra")).body.runs).to.deep.equal([]);
      expect((await bench.ask("ada", "/v1/sessions/gone")).status).to.equal(404);
      const { journal } = bench.service?.host ?? {};
      expect(await journal?.read(run, 0, 10)).to.deep.equal([]);
      expect(await journal?.wire?.(run)).to.deep.equal([]);
      expect(await bench.service?.host.telemetry.trace(run)).to.equal(undefined);
      await bench.ask("ada", `/v1/runs/${waiting.run}/cancel`, { method: "POST" });
    });

    it("a request that is repeated after its run was erased starts nothing: its key stays taken", async () => {
      const body = { agent: "assistant", input: "once okapi" };
      const start = () =>
        bench.ask<{ run: string }>("ada", "/v1/runs", { body, headers: { "idempotency-key": "okapi" } });
      const { run } = (await start()).body;
      expect((await bench.ask("ada", `/v1/runs/${run}`, { method: "DELETE" })).status).to.equal(200);
      expect((await start()).status).to.equal(404);
      expect((await bench.ask<{ runs: unknown[] }>("ada", "/v1/runs?q=okapi")).body.runs).to.deep.equal([]);
    });

    it("DELETE of a session erases all its runs, and none while one is under way", async () => {
      await bench.run("ada", "My name is Ada.", { session: "talk" });
      const { run } = await bench.question("ada", { session: "talk" });
      const erase = (key: string) => bench.ask<{ removed: string[] }>(key, "/v1/sessions/talk", { method: "DELETE" });
      expect((await erase("bob")).status).to.equal(404);
      expect((await erase("ada")).status).to.equal(409);
      expect((await bench.ask<{ runs: unknown[] }>("ada", "/v1/sessions/talk")).body.runs).to.have.length(2);
      await bench.ask("ada", `/v1/runs/${run}/cancel`, { method: "POST" });
      expect((await erase("ada")).body.removed).to.have.length(2);
      expect((await bench.ask("ada", "/v1/sessions/talk")).status).to.equal(404);
      const next = await bench.run("ada", "What is my name?", { session: "talk" });
      expect(JSON.stringify(await bench.events(next))).not.to.include("Ada.");
    });
  });
}
