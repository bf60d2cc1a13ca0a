import { expect } from "chai";
import type { EventOf, EventType, RunEvent } from "../../../src/core/run/events.ts";
import { Bench, engines } from "./bench.ts";

const of = <T extends EventType>(events: readonly RunEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type);

interface Answer {
  readonly run: string;
  readonly error?: { readonly code: string; readonly err: string };
}

for (const engine of Object.keys(engines)) {
  describe(`a fork, on ${engine}`, function () {
    this.timeout(180_000);
    const bench = new Bench(engine);
    before(() => bench.open());
    after(() => bench.close());

    const fork = (run: string, body: Record<string, unknown>, key = "ada") =>
      bench.ask<Answer>(key, `/v1/runs/${run}/fork`, { body });
    const forked = async (run: string, body: Record<string, unknown>) => {
      const { status, body: answer } = await fork(run, body);
      expect(status, JSON.stringify(answer)).to.equal(202);
      return { run: answer.run, events: await bench.events(answer.run) };
    };
    const answered = async (run: string, approved: boolean) => {
      for await (const batch of bench.service?.host.runs.follow(run) ?? []) {
        const asked = of(batch, "approval.requested")[0];
        if (asked === undefined) continue;
        await bench.ask("ada", `/v1/runs/${run}/approvals/${asked.call}`, { body: { approved } });
        return { asked, events: await bench.events(run) };
      }
      throw new Error("it asked nothing");
    };

    it("copies the events up to a step and replays recorded results: no tool runs", async () => {
      const original = await bench.run("ada", "order one", { agent: "buyer", metadata: { ticket: 7 } });
      const events = await bench.events(original);
      const happened = bench.orders.length;
      const step = of(events, "generation.finished")[0]?.seq ?? 0;
      const { run, events: copy } = await forked(original, { after: step });
      // A wait is moved with its event; a busy machine adds some.
      const bare = (event: RunEvent) => ({
        ...event,
        run: "",
        at: 0,
        waited: event.waited?.map((wait) => ({ ...wait, from: wait.from - event.at })),
      });
      expect(copy.slice(1, step).map(bare)).to.deep.equal(events.slice(1, step).map(bare));
      expect(copy[0]).to.deep.include({ type: "run.started", fork: { run: original, after: step }, by: "ada" });
      expect(copy[0]).to.deep.include({ input: { text: "order one" }, metadata: { ticket: 7 } });
      expect(copy[step]?.type).to.equal("run.resumed");
      expect(of(copy, "tool.finished")[0]).to.include({ ok: true, output: "order of 1" });
      expect(copy.at(-1)).to.include({ type: "run.finished", output: "let me see ordered" });
      expect(bench.orders.length).to.equal(happened);
      const ats = copy.map(({ at }) => at);
      expect(ats).to.deep.equal(ats.toSorted((left, right) => left - right));
      const row = await bench.ask<{ agent: string; session?: string }>("ada", `/v1/runs/${run}`);
      expect(row.body).to.include({ agent: "buyer", status: "finished" });
      expect(await bench.events(original)).to.deep.equal(events);
    });

    it("from its start with another input asks about a call that the original never made", async () => {
      const original = await bench.run("ada", "order one", { agent: "buyer" });
      const happened = bench.orders.length;
      const started = (await fork(original, { after: 1, input: "order two" })).body.run;
      const { asked, events } = await answered(started, false);
      expect(asked).to.deep.include({ name: "order", arguments: { amount: 2 } });
      expect(of(events, "tool.finished")[0]?.error).to.include({ code: "tool_denied" });
      expect(bench.orders.length).to.equal(happened);
      const second = (await fork(original, { after: 1, input: "order two" })).body.run;
      expect(of((await answered(second, true)).events, "tool.finished")[0]?.output).to.equal("order of 2");
      expect(bench.orders.slice(happened)).to.deep.equal(["2"]);
    });

    it("gives the model the result that a person put in a call's place", async () => {
      const original = await bench.run("ada", "What is 17 * 23?");
      const events = await bench.events(original);
      const call = of(events, "tool.finished")[0];
      const step = of(events, "round.finished")[0]?.seq ?? 0;
      const { events: copy } = await forked(original, { after: step, edit: [{ call: call?.call, output: "392" }] });
      expect(of(copy, "tool.finished")[0]).to.include({ ok: true, output: "392" });
      expect(copy.at(-1)).to.have.property("output").that.includes("392");
    });

    it("runs pure tools and asks for the others with `tools: ask`, or asks for all", async () => {
      const sum = await bench.run("ada", "What is 17 * 23?");
      const pure = await forked(sum, { after: 1, tools: "run" });
      expect(of(pure.events, "approval.requested")).to.deep.equal([]);
      expect(of(pure.events, "tool.finished")[0]?.ok).to.equal(true);
      const all = (await fork(sum, { after: 1, tools: "ask" })).body.run;
      expect((await answered(all, true)).asked.name).to.equal("calculator");
      const order = await bench.run("ada", "order one", { agent: "buyer" });
      const happened = bench.orders.length;
      const asks = (await fork(order, { after: 1, tools: "run" })).body.run;
      await answered(asks, false);
      expect(bench.orders.length).to.equal(happened);
    });

    it("has the conversation before the original as it was then, and can only start a new session", async () => {
      await bench.run("ada", "My name is Ada.", { session: `talk-${engine}` });
      const second = await bench.run("ada", "What is my name?", { session: `talk-${engine}` });
      await bench.run("ada", "And something later.", { session: `talk-${engine}` });
      const { run, events } = await forked(second, { after: 1 });
      const [started] = of(events, "run.started");
      const said = JSON.stringify(started?.input.messages);
      expect(said).to.include("My name is Ada.").and.include("What is my name?");
      expect(said).not.to.include("And something later.");
      expect(started?.session).to.equal(undefined);
      const session = await bench.ask<{ runs: unknown[] }>("ada", `/v1/sessions/talk-${engine}`);
      expect(session.body.runs).to.have.length(3);
      expect((await fork(second, { after: 1, session: `talk-${engine}` })).status).to.equal(409);
      const named = await forked(second, { after: 1, session: `fork-${engine}` });
      expect(of(named.events, "run.started")[0]?.session).to.equal(`fork-${engine}`);
      expect(run).not.to.equal(named.run);
    });

    it("of a fork, and of a run that was answered by a person, goes on like any other", async () => {
      const { run, call } = await bench.question("ada");
      await bench.ask("ada", `/v1/runs/${run}/approvals/${call}`, { body: { approved: true } });
      const events = await bench.events(run);
      const step = of(events, "round.finished")[0]?.seq ?? 0;
      const first = await forked(run, { after: step });
      expect(first.events.at(-1)).to.include({ type: "run.finished", output: "paid 391" });
      const after = of(first.events, "generation.finished")[0]?.seq;
      const again = await forked(first.run, { after });
      expect(again.events.at(-1)).to.include({ type: "run.finished", output: "paid 391" });
      expect(of(again.events, "approval.requested")).to.deep.equal([]);
      expect(again.events[0]).to.deep.include({ fork: { run: first.run, after } });
    });

    it("with a key is made once", async () => {
      const runs = bench.service?.host.runs ?? expect.fail();
      const [one = "", two = ""] = [await bench.run("ada", "hello"), await bench.run("ada", "hello")];
      const made = await Promise.all([1, 2].map(() => runs.fork(one, { after: 1 }, { key: "k" })));
      expect(new Set(made.map(({ run }) => run)).size).to.equal(1);
      const failure = await runs.fork(two, { after: 1 }, { key: "k" }).catch((thrown: unknown) => thrown);
      expect(failure).to.have.property("code", "conflict");
    });

    it("is refused at a position that is not a step, for edits without a match, and for what the agent does not allow", async () => {
      const original = await bench.run("ada", "What is 17 * 23?");
      const events = await bench.events(original);
      const delta = events.find(({ type }) => type === "text.delta")?.seq ?? 0;
      const refusal = async (body: Record<string, unknown>, code: string, text: string) => {
        const { body: answer } = await fork(original, body);
        expect(answer.error?.code, JSON.stringify(body)).to.equal(code);
        expect(answer.error?.err).to.include(text);
      };
      await refusal({ after: delta }, "invalid_input", "is not the end of a step; the last one before it is");
      await refusal({ after: events.length + 1 }, "invalid_input", `has ${events.length} events`);
      await refusal({ after: events.length }, "invalid_input", "is not the end of a step");
      const step = of(events, "round.finished")[0]?.seq;
      await refusal({ after: step, input: "other" }, "invalid_input", "fork after event 1");
      await refusal({ after: step, edit: [{ call: "nope", output: "x" }] }, "invalid_input", 'no call "nope"');
      await refusal({ after: 1, model: "demo/other" }, "forbidden", "does not let a call choose");
      await refusal({ after: 1, tols: "run" }, "invalid_input", "tols");
    });

    it("is refused to another tenant, to keys of other agents or scopes, and other instructions need inspect", async () => {
      const original = await bench.run("ada", "hello");
      for (const [key, status] of [
        ["bob", 404],
        ["narrow", 404],
        ["blind", 403],
        ["plain", 202],
      ] as const) {
        expect((await fork(original, { after: 1 }, key)).status, key).to.equal(status);
      }
      expect((await fork(original, { after: 1, instructions: "Be rude." }, "plain")).status).to.equal(403);
      expect((await fork(original, { after: 1, unanswered: { module: "/etc/passwd" } })).status).to.equal(403);
      expect((await fork(original, { after: 1, unanswered: { agent: "assistant" } }, "narrow")).status).to.equal(403);
      expect((await fork(original, { after: 1, instructions: "Be kind." })).status).to.equal(202);
    });
  });
}
