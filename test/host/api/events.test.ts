import { expect } from "chai";
import { isStep, type RunEvent } from "../../../src/core/run/events.ts";
import { Bench, engines } from "./bench.ts";

interface Page {
  readonly status: string;
  readonly head: number;
  readonly events: readonly RunEvent[];
  readonly next?: number;
}

const json = { headers: { accept: "application/json" } };

for (const engine of Object.keys(engines)) {
  describe(`a run's events as pages and over a socket, on ${engine}`, () => {
    const bench = new Bench(engine);
    let run = "";
    let whole: RunEvent[] = [];
    before(async function () {
      this.timeout(180_000);
      await bench.open();
      run = await bench.run("ada", "What is 17 * 23?");
      whole = await bench.events(run);
    });
    after(() => bench.close());

    const pages = async (query: string) => {
      const events: RunEvent[] = [];
      for (let after = 0, count = 0; ; count++) {
        const { body } = await bench.ask<Page>("ada", `/v1/runs/${run}/events?after=${after}&limit=7${query}`, json);
        expect(body).to.include({ status: "finished", head: whole.length });
        expect(body.events.length).to.be.at.most(7);
        events.push(...body.events);
        if (body.next === undefined) return { events, count };
        after = body.next;
      }
    };

    it("come in pages that add up to the run", async () => {
      const { events, count } = await pages("");
      expect(events).to.deep.equal(whole);
      expect(count).to.equal(Math.ceil(whole.length / 7) - 1);
    });

    it("come without deltas when only steps are asked for", async () => {
      const { events } = await pages("&steps=1");
      expect(events).to.deep.equal(whole.filter(isStep));
      expect(events.length).to.be.lessThan(whole.length);
    });

    it("are refused to another tenant, to a key of other agents and to one that may not see", async () => {
      for (const [key, status] of [
        ["bob", 404],
        ["narrow", 404],
        ["blind", 403],
      ] as const) {
        expect((await bench.ask(key, `/v1/runs/${run}/events`, json)).status, key).to.equal(status);
      }
    });

    it("name the key that started the run", () => {
      expect(whole[0]).to.include({ type: "run.started", by: "ada" });
    });

    it("arrive word for word over a socket, from any position, and live", async () => {
      const socket = await bench.socket("ada");
      socket.send({ type: "subscribe", id: "s", run, after: 3, as: "events" });
      const collected = () =>
        socket.received.flatMap((message) =>
          message.type === "events" ? (message as unknown as { events: RunEvent[] }).events : [],
        );
      await socket.until(() => collected().length === whole.length - 3);
      expect(collected()).to.deep.equal(whole.slice(3));
      expect(socket.received[0]).to.include({ run, id: "s" });
      socket.received.length = 0;
      socket.send({ type: "run", agent: "assistant", input: "What is 17 * 23?", as: "events" });
      await socket.until(() => collected().at(-1)?.type === "run.finished");
      const seen = collected();
      expect(seen).to.deep.equal(await bench.events(seen[0]?.run ?? ""));
      socket.socket.close();
    });

    it("are refused over a socket to another tenant, and as sentences", async () => {
      const bob = await bench.socket("bob");
      bob.send({ type: "subscribe", run, as: "events" });
      expect((await bob.until(() => true)).error).to.include({ code: "not_found" });
      bob.received.length = 0;
      bob.send({ type: "run", agent: "other", input: "hi", as: "events", sentences: true });
      expect((await bob.until(() => true)).error).to.include({ code: "invalid_input" });
      bob.socket.close();
    });
  });
}
