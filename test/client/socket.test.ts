import { expect } from "chai";
import channelHttp from "../../plugins/channel-http/index.ts";
import channelWebsocket from "../../plugins/channel-websocket/index.ts";
import { ClientError, type Run, type RunEvent, VenturiClient } from "../../src/client/client.ts";
import { hello, keyOf, serve, text } from "../service.ts";
import { CutWire } from "./cut-wire.ts";
import { Restartable } from "./restartable.ts";

const retry = { first: 1, longest: 20 };

const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

/** Every socket that was made. */
const counted = (made: WebSocket[]) =>
  class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      made.push(this);
    }
  };

describe("venturi/client over a WebSocket", () => {
  let service: Restartable;
  let direct: VenturiClient;

  before(async () => {
    service = await Restartable.start();
    direct = new VenturiClient({ url: service.url, retry });
  });
  after(() => service.stop());

  const live = (url = service.url, more = {}) => new VenturiClient({ url, retry, transport: "websocket", ...more });
  /** Past the wire, so that it carries the socket alone. */
  const forwarded = (url: string, init?: RequestInit) => fetch(service.url + new URL(url).pathname, init);
  const ended = async (agent: string): Promise<{ id: string; events: RunEvent[] }> => {
    const run = await direct.start({ agent, input: "go" });
    return { id: run.id, events: await all(run.events()) };
  };

  it("follows several runs on one socket, which is closed after the last of them", async () => {
    const made: WebSocket[] = [];
    const client = live(service.url, { WebSocket: counted(made) });
    const started = await Promise.all(
      ["count", "slow", "assistant"].map((agent) => client.start({ agent, input: "hi" })),
    );
    const seen = await Promise.all(started.map((run) => all(run.events())));
    expect(made.length).to.equal(1);
    for (const [index, run] of started.entries()) {
      expect(seen[index]).to.deep.equal(await all(direct.run(run.id).events()));
    }
    expect(made[0]?.readyState).to.be.greaterThan(1);
  });

  it("follows a run through a cut at any place", async () => {
    const { id, events } = await ended("count");
    const size = JSON.stringify(events).length;
    const wire = await CutWire.start(service.url);
    try {
      for (let cut = 1; cut < size + 600; cut += 97) {
        const client = live(wire.url, { fetch: forwarded });
        wire.cuts.push(cut);
        expect(await all(client.run(id).events()), `cut after ${cut} bytes`).to.deep.equal(events);
      }
      expect(wire.opened).to.be.greaterThan(size / 97);
    } finally {
      wire.close();
    }
  });

  it("knows the end of a run that it heard of before", async () => {
    const { id, events } = await ended("count");
    expect(await all(live().run(id).events({ after: events.length }))).to.deep.equal([]);
    expect(
      await all(
        live()
          .run(id)
          .events({ after: events.length - 2 }),
      ),
    ).to.deep.equal(events.slice(-2));
  });

  it("gives a second reader of a run its events as well", async () => {
    const client = live();
    const run = await client.start({ agent: "slow", input: "go" });
    const [first, second] = await Promise.all([all(run.events()), all(run.events({ after: 3 }))]);
    expect(second).to.deep.equal(first.slice(3));
  });

  it("holds a bounded number of events for a slow reader, who gets all of them", async () => {
    const many = 12_000;
    const scripted = await serve({
      scripts: {
        many: async ({ emit }) => {
          for (let index = 0; index < many; index += 100) emit(...Array.from({ length: 100 }, () => text("word ")));
          return undefined;
        },
        hello,
      },
      channels: [{ plugin: channelHttp }, { plugin: channelWebsocket }],
    });
    try {
      const client = live(scripted.url);
      const run = await client.start({ agent: "many", input: "go" });
      let last = 0;
      let largest = 0;
      for await (const batch of run.batches()) {
        largest = Math.max(largest, batch.length);
        for (const event of batch) expect(event.seq).to.equal(++last);
        // Meanwhile another run is read to its end, so the socket has delivered what it had.
        await (await client.start({ agent: "hello", input: "hi" })).result();
      }
      expect(last).to.be.greaterThan(many);
      expect(largest).to.be.lessThan(8192);
    } finally {
      await scripted.close();
    }
  });

  it("follows over a service that is killed and started again", async () => {
    const client = live();
    const runs = await Promise.all([1, 2, 3].map(() => client.start({ agent: "slow", input: "go" })));
    let restarted: Promise<void> | undefined;
    const follow = async (run: Run): Promise<RunEvent[]> => {
      const seen: RunEvent[] = [];
      for await (const event of run.events()) {
        if (seen.push(event) === 10) restarted ??= service.kill().then(() => service.begin());
      }
      return seen;
    };
    const seen = await Promise.all(runs.map(follow));
    await restarted;
    for (const [index, run] of runs.entries()) {
      expect(seen[index]?.at(-1)?.type).to.equal("run.finished");
      expect(seen[index]).to.deep.equal(await all(direct.run(run.id).events()));
    }
  });

  it("gives up a socket on which nothing arrives any more", async () => {
    const wire = await CutWire.start(service.url);
    try {
      const client = live(wire.url, { idle: 300, fetch: forwarded });
      const run = await client.start({ agent: "slow", input: "go" });
      const seen: RunEvent[] = [];
      for await (const event of run.events()) if (seen.push(event) === 5) wire.mute();
      // A machine that stalls for as long is given up, too.
      expect(wire.opened).to.be.greaterThan(1);
      expect(seen).to.deep.equal(await all(direct.run(run.id).events()));
    } finally {
      wire.close();
    }
  });

  it("says what was wrong: an unknown run, a wrong key", async () => {
    const unknown = await all(live().run("run_0").events()).catch((thrown: unknown) => thrown);
    expect(unknown).to.be.instanceOf(ClientError).and.include({ code: "not_found" });
    const keyed = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }, { plugin: channelWebsocket }],
      settings: { auth: { keys: [keyOf("ada", "secret-of-ada-0123456789")] } },
    });
    try {
      const good = live(keyed.url, { key: "secret-of-ada-0123456789" });
      const run = await good.start({ agent: "hello", input: "hi" });
      expect((await run.result()).output).to.equal("Hello world.");
      const wrong = await live(keyed.url, { key: "wrong" })
        .run(run.id)
        .result()
        .catch((thrown: unknown) => thrown);
      expect(wrong).to.be.instanceOf(ClientError).and.include({ code: "unauthorized", status: 401 });
    } finally {
      await keyed.close();
    }
  });

  it("reads pages without waiting", async () => {
    const { id, events } = await ended("assistant");
    const run = live().run(id);
    const paged: RunEvent[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page = await run.page({ after, limit: 4 });
      paged.push(...page.events);
      expect(page.head).to.equal(events.length);
      after = page.next;
    }
    expect(paged).to.deep.equal(events);
    const { events: steps } = await run.page({ steps: true });
    expect(steps.map((event) => event.type))
      .to.include("round.finished")
      .and.not.include("text.delta");
  });
});
