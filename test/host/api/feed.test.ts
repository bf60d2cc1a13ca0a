import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { FeedItem } from "../../../src/core/run/feed.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { readSse } from "../../sse.ts";
import { Bench, engines } from "./bench.ts";

/** A reader of the feed, from its opening on. */
class Watcher {
  readonly items: FeedItem[] = [];
  readonly #abort = new AbortController();
  #wake = () => {};

  static async open(url: string, key: string, query = ""): Promise<Watcher> {
    const watcher = new Watcher();
    const headers = { authorization: `Bearer ${key}-key` };
    const response = await fetch(`${url}/v1/feed${query}`, { headers, signal: watcher.#abort.signal });
    expect(response.status).to.equal(200);
    void watcher.#read(response);
    await watcher.until(() => watcher.items[0]?.type === "feed.opened");
    return watcher;
  }

  close(): void {
    this.#abort.abort();
  }

  async until(met: () => boolean): Promise<void> {
    while (!met()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  of(run: string, ...types: string[]): FeedItem[] {
    return this.items.filter((item) => "run" in item && item.run === run && types.includes(item.type));
  }

  async #read(response: Response): Promise<void> {
    try {
      for await (const { data } of readSse(response.body)) {
        this.items.push(JSON.parse(data) as FeedItem);
        this.#wake();
      }
    } catch {
      // closed
    }
  }
}

const ends = ["run.finished", "run.failed"];

for (const engine of Object.keys(engines)) {
  describe(`the feed, on ${engine}`, function () {
    this.timeout(180_000);
    const bench = new Bench(engine);
    before(() => bench.open());
    after(() => bench.close());

    it("reports a run's start, rounds, question and end, each once, with a digest at the end", async () => {
      const watcher = await Watcher.open(bench.url, "ada");
      const { run, call } = await bench.question("ada", { session: "s1" });
      await watcher.until(() => watcher.of(run, "approval.requested").length > 0);
      await bench.ask("ada", `/v1/runs/${run}/approvals/${call}`, { body: { approved: true } });
      await watcher.until(() => watcher.of(run, ...ends).length > 0);
      const next = await bench.run("ada", "What is 17 * 23?");
      await watcher.until(() => watcher.of(next, ...ends).length > 0);
      const told = watcher.items.flatMap((item) => ("run" in item && item.run === run ? [item.type] : []));
      expect(told).to.deep.equal([
        "run.started",
        "round.started",
        "approval.requested",
        "approval.resolved",
        "round.started",
        "run.finished",
      ]);
      expect(watcher.of(run, "run.started")[0]).to.include({ agent: "payer", session: "s1", by: "ada", input: "pay" });
      const [end] = watcher.of(next, ...ends);
      const digest = end !== undefined && "digest" in end ? end.digest : undefined;
      expect(digest).to.include({
        run: next,
        agent: "assistant",
        status: "finished",
        finish: "stop",
        calls: 1,
        by: "ada",
      });
      expect(digest?.tools).to.deep.equal(["calculator"]);
      expect(digest?.models).to.deep.equal(["demo/small"]);
      expect(digest?.input).to.equal("What is 17 * 23?");
      expect(digest?.output).to.include("391");
      watcher.close();
    });

    it("ticks once a second with the active runs", async () => {
      const watcher = await Watcher.open(bench.url, "ada");
      const headers = { prefer: "respond-async" };
      const body = { agent: "other", input: "for a long time" };
      const { run } = (await bench.ask<{ run: string }>("ada", "/v1/runs", { body, headers })).body;
      const ticks = () => watcher.items.flatMap((item) => (item.type === "tick" ? item.runs : []));
      // A tick may fall into a moment of another part.
      const streams = ({ run: of, tokens, part }: { run: string; tokens: number; part: string }) =>
        of === run && tokens > 0 && part === "providerStream";
      await watcher.until(() => ticks().some(streams));
      await bench.ask("ada", `/v1/runs/${run}/cancel`, { method: "POST" });
      await watcher.until(() => watcher.of(run, ...ends).length === 1);
      watcher.close();
    });

    it("reports nothing to another tenant or a key of other agents, and refuses a key without the scope see", async () => {
      const bob = await Watcher.open(bench.url, "bob");
      const narrow = await Watcher.open(bench.url, "narrow");
      const only = await Watcher.open(bench.url, "ada", "?agent=other");
      await bench.run("ada", "hello");
      const mine = await bench.run("bob", "hello");
      const allowed = await bench.run("ada", "hello", { agent: "other" });
      await bob.until(() => bob.of(mine, ...ends).length > 0);
      await narrow.until(() => narrow.of(allowed, ...ends).length > 0);
      await only.until(() => only.of(allowed, ...ends).length > 0);
      const runsOf = (watcher: Watcher) => new Set(watcher.items.flatMap((item) => ("run" in item ? [item.run] : [])));
      expect([...runsOf(bob)]).to.deep.equal([mine]);
      expect([...runsOf(narrow)]).to.deep.equal([allowed]);
      expect([...runsOf(only)]).to.deep.equal([allowed]);
      expect((await bench.ask("blind", "/v1/feed")).status).to.equal(403);
      expect((await bench.ask("narrow", "/v1/feed?agent=assistant")).status).to.equal(403);
      for (const watcher of [bob, narrow, only]) watcher.close();
    });

    it("comes over a socket, until it is asked to stop", async () => {
      const socket = await bench.socket("ada");
      const items = () => socket.received.flatMap((message) => (message.items as FeedItem[] | undefined) ?? []);
      socket.send({ type: "feed", id: "f" });
      await socket.until(() => items().some(({ type }) => type === "feed.opened"));
      expect(socket.received[0]).to.include({ type: "feed", id: "f" });
      const run = await bench.run("ada", "hello");
      await socket.until(() => items().some((item) => item.type === "run.finished" && item.run === run));
      socket.send({ type: "unfeed" });
      socket.send({ type: "ping", id: "after" });
      await socket.until(({ type }) => type === "pong");
      const before = socket.received.length;
      await bench.run("ada", "hello");
      socket.send({ type: "ping", id: "last" });
      await socket.until(({ id }) => id === "last");
      expect(socket.received.length).to.equal(before + 1);
      const blind = await bench.socket("blind");
      blind.send({ type: "feed" });
      expect((await blind.until(() => true)).error).to.include({ code: "forbidden" });
      socket.socket.close();
      blind.socket.close();
    });

    if (engine === "memory") return;
    it("of one replica tells of the runs of another", async () => {
      const second: Service = await openService({ configFile: bench.configFile, env: {}, log: silentLog });
      try {
        const watcher = await Watcher.open(second.url, "ada");
        const { run, call } = await bench.question("ada");
        await watcher.until(() => watcher.of(run, "approval.requested").length > 0);
        expect(watcher.of(run, "run.started")).to.have.length(1);
        await bench.ask("ada", `/v1/runs/${run}/approvals/${call}`, { body: { approved: false } });
        await watcher.until(() => watcher.of(run, ...ends).length > 0);
        expect(watcher.of(run, "approval.resolved")).to.have.length(1);
        const marker = await bench.run("ada", "hello");
        await watcher.until(() => watcher.of(marker, ...ends).length > 0);
        expect(watcher.of(run, ...ends)).to.have.length(1);
        watcher.close();
      } finally {
        await second.drain();
      }
    });
  });
}
