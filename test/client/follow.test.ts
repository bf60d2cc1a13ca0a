import { expect } from "chai";
import channelHttp from "../../plugins/channel-http/index.ts";
import { ClientError, type ConnectionState, type RunEvent, VenturiClient } from "../../src/client/client.ts";
import { serve, text } from "../service.ts";
import { BadProxy, type Harm } from "./bad-proxy.ts";
import { Restartable } from "./restartable.ts";

/** Breaks are many here and the waits between them no part of what is tested. */
const retry = { first: 1, longest: 20 };

const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

describe("venturi/client follows a run", () => {
  let service: Restartable;
  let proxy: BadProxy;
  let direct: VenturiClient;
  let client: VenturiClient;

  before(async () => {
    service = await Restartable.start();
    proxy = await BadProxy.start(service.url);
    direct = new VenturiClient({ url: service.url, retry });
    client = new VenturiClient({ url: proxy.url, retry });
  });
  beforeEach(() => {
    proxy.harm.length = 0;
    proxy.asked.length = 0;
    proxy.times.length = 0;
  });
  after(async () => {
    proxy.close();
    await service.stop();
  });

  const ended = async (agent: string): Promise<{ id: string; events: RunEvent[] }> => {
    const run = await direct.start({ agent, input: "go" });
    return { id: run.id, events: await all(run.events()) };
  };
  const through = (id: string, harm: Harm[], options = {}): Promise<RunEvent[]> => {
    proxy.harm.push(...harm);
    return all(client.run(id).events(options));
  };

  it("from its first event to its last, and its result is the last one", async () => {
    const run = await direct.start({ agent: "count", input: "go" });
    const events = await all(run.events());
    expect(events.map((event) => event.seq)).to.deep.equal(events.map((_, index) => index + 1));
    expect(events[0]?.type).to.equal("run.started");
    expect(await run.result()).to.deep.equal(events.at(-1));
    const numbers = events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("");
    expect((await run.result()).output).to.equal(numbers);
  });

  it("through a cut inside any of its frames, asking for exactly what follows", async () => {
    const { id, events } = await ended("count");
    expect(events.length).to.be.greaterThan(5);
    for (let cutAt = 0; cutAt < events.length; cutAt++) {
      proxy.asked.length = 0;
      expect(await through(id, [{ cutAt }]), `cut at ${cutAt}`).to.deep.equal(events);
      expect(proxy.asked).to.deep.equal(["0", String(cutAt)]);
    }
  });

  it("through a response that was ended properly at any of its frames", async () => {
    const { id, events } = await ended("count");
    for (let endAt = 0; endAt < events.length; endAt++) {
      expect(await through(id, [{ endAt }]), `ended at ${endAt}`).to.deep.equal(events);
    }
  });

  it("cut after every single event", async () => {
    const { id, events } = await ended("count");
    expect(
      await through(
        id,
        events.map(() => ({ cutAt: 1 })),
      ),
    ).to.deep.equal(events);
    expect(proxy.asked).to.deep.equal(events.map((_, index) => String(index)));
  });

  it("without a second time for frames that come twice or late, and with each of those that were left out", async () => {
    const { id, events } = await ended("count");
    for (let index = 0; index < events.length; index += 3) {
      proxy.asked.length = 0;
      expect(await through(id, [{ repeat: index }]), `repeated ${index}`).to.deep.equal(events);
      expect(proxy.asked).to.deep.equal(["0"]); // dropped, without a new connection
      expect(await through(id, [{ omit: index }]), `left out ${index}`).to.deep.equal(events);
    }
  });

  it("whose bytes arrive one by one", async () => {
    const run = await direct.start({ agent: "assistant", input: "hello, what is 17 * 23? — naïve 🙂" });
    const events = await all(run.events());
    expect(await through(run.id, [{ drip: true }])).to.deep.equal(events);
  });

  it("not further when the service leaves out an event each time", async () => {
    const { id } = await ended("count");
    const endless = Array.from({ length: 20 }, (_, index) => ({ omit: index === 0 ? 4 : 0 }));
    const error = await through(id, endless).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ClientError);
    expect(error).to.include({ op: "run.follow", code: "record_invalid", message: "the service did not send event 5" });
  });

  it("after refusals, waiting as long as the service asks", async () => {
    const { id, events } = await ended("count");
    const states: ConnectionState[] = [];
    const seen = await through(
      id,
      [{ status: 503, retryAfter: "1" }, { status: 429, retryAfter: "0" }, { status: 502 }],
      {
        onConnection: (state: ConnectionState) => states.push(state),
      },
    );
    expect(seen).to.deep.equal(events);
    const [first = 0, second = 0, third = 0] = proxy.times;
    expect(second - first).to.be.within(990, 3000);
    expect(third - second).to.be.lessThan(500);
    const tries = ["connecting", "waiting", "connecting", "waiting", "connecting", "waiting", "connecting", "open"];
    expect(states).to.deep.equal(tries);
  });

  it("on a new connection when one falls silent", async () => {
    const { id, events } = await ended("count");
    const impatient = new VenturiClient({ url: proxy.url, retry, idle: 200 });
    proxy.harm.push({ hangAt: 5 });
    expect(await all(impatient.run(id).events())).to.deep.equal(events);
    expect(proxy.asked).to.deep.equal(["0", "5"]);
  });

  it("from where its caller was, also when that was the end", async () => {
    const { id, events } = await ended("count");
    for (const after of [1, 17, events.length - 1, events.length]) {
      expect(await through(id, [{ cutAt: 2 }], { after })).to.deep.equal(events.slice(after));
    }
  });

  it("as often as configured, then passes the error on", async () => {
    const { id } = await ended("count");
    const refusals = Array.from({ length: 9 }, () => ({ status: 503 }));
    const error = await through(id, refusals, { attempts: 3 }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ClientError).and.include({ code: "unavailable", status: 503 });
    expect(proxy.asked.length).to.equal(3);
  });

  it("until its signal aborts, with the signal's reason, and leaves no connection", async () => {
    const run = await direct.start({ agent: "slow", input: "go" });
    const abort = new AbortController();
    const reason = new Error("enough");
    const seen: RunEvent[] = [];
    const follow = async () => {
      for await (const event of run.events({ signal: abort.signal })) if (seen.push(event) === 5) abort.abort(reason);
    };
    expect(await follow().catch((thrown: unknown) => thrown)).to.equal(reason);
    expect(seen.length).to.equal(5);
    for await (const event of run.events({ after: 5 })) if (event.seq === 8) break;
    expect((await run.cancel()).status).to.equal("cancelled");
  });

  it("at its own pace: a slow reader gets every event of a long run", async () => {
    const run = await client.start({ agent: "long", input: "go" });
    let last = 0;
    let reads = 0;
    for await (const batch of run.batches()) {
      if (reads++ % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const event of batch) expect(event.seq).to.equal(++last);
    }
    expect(last).to.be.greaterThan(200);
    expect((await run.get()).head).to.equal(last);
  });

  it("also when the service cut it off because it read nothing for too long", async () => {
    const events = 3000;
    const scripted = await serve({
      scripts: {
        large: async ({ emit }) => {
          for (let index = 0; index < events; index += 10)
            emit(...Array.from({ length: 10 }, () => text("x".repeat(10_000))));
          return { output: "" };
        },
      },
      channels: [{ plugin: channelHttp }],
      limits: { stalled: 200, slowReader: 64 * 1024 },
    });
    try {
      let streams = 0;
      const reader = new VenturiClient({
        url: scripted.url,
        retry,
        fetch: (input, init) => {
          if (String(input).endsWith("/events")) streams++;
          return fetch(input, init);
        },
      });
      const run = await reader.start({ agent: "large", input: "go" });
      let last = 0;
      for await (const batch of run.batches()) {
        if (last === 0) await new Promise((resolve) => setTimeout(resolve, 1000)); // reads nothing
        for (const event of batch) expect(event.seq).to.equal(++last);
      }
      expect(last).to.be.greaterThan(events);
      expect(streams).to.be.greaterThan(1);
    } finally {
      await scripted.close();
    }
  });

  it("over a service that is killed and started again in the middle", async () => {
    const run = await direct.start({ agent: "slow", input: "go" });
    const seen: RunEvent[] = [];
    let restarted: Promise<void> | undefined;
    for await (const event of run.events()) {
      seen.push(event);
      if (event.seq === 12) restarted = service.kill().then(() => service.begin());
    }
    await restarted;
    expect(seen.map((event) => event.seq)).to.deep.equal(seen.map((_, index) => index + 1));
    expect(seen.some((event) => event.type === "run.resumed")).to.equal(true);
    expect(seen.at(-1)?.type).to.equal("run.finished");
    expect(await all(direct.run(run.id).events())).to.deep.equal(seen);
  });
});
