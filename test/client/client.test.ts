import { randomUUID } from "node:crypto";
import { expect } from "chai";
import channelHttp from "../../plugins/channel-http/index.ts";
import { sleep, waitOf } from "../../src/client/backoff.ts";
import { ClientError, VenturiClient } from "../../src/client/client.ts";
import { codes } from "../../src/core/errors/codes.ts";
import { keyOf, serve } from "../service.ts";
import { BadProxy } from "./bad-proxy.ts";
import { Restartable } from "./restartable.ts";

const retry = { first: 1, longest: 20 };
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "it worked",
    (thrown) => thrown,
  );

describe("venturi/client", () => {
  let service: Restartable;
  let client: VenturiClient;

  before(async () => {
    service = await Restartable.start();
    client = new VenturiClient({ url: `${service.url}/`, retry });
  });
  after(() => service.stop());

  it("starts a run once although the request is repeated", async () => {
    const proxy = await BadProxy.start(service.url);
    try {
      const session = randomUUID();
      const shaky = new VenturiClient({
        url: proxy.url,
        retry,
        // The service gets the request; its answer is lost twice.
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          if (init?.method !== "POST" || lost++ >= 2) return response;
          throw new TypeError("fetch failed");
        },
      });
      let lost = 0;
      const run = await shaky.start({ agent: "count", input: "go", session });
      expect(lost).to.equal(3);
      const { runs } = await client.runs({ session });
      expect(runs.map((row) => row.run)).to.deep.equal([run.id]);
    } finally {
      proxy.close();
    }
  });

  it("answers questions: yes runs the tool, no tells the model why", async () => {
    for (const [answer, ok] of [
      ["approve", true],
      ["deny", false],
    ] as const) {
      const run = await client.start({ agent: "asks", input: "what is 2 + 3?" });
      for await (const event of run.events()) {
        if (event.type !== "approval.requested") continue;
        const { approvals } = await client.approvals({ agent: "asks" });
        expect(approvals.map((entry) => [entry.run, entry.call, entry.name])).to.deep.equal([
          [run.id, event.call, "careful"],
        ]);
        expect((await run.get()).pending?.[0]?.call).to.equal(event.call);
        await run[answer](event.call, { reason: "because" });
        const again = await failure(run[answer](event.call));
        expect(again).to.be.instanceOf(ClientError).and.include({ code: "conflict", status: 409, retryable: false });
        break;
      }
      await run.result();
      const results: boolean[] = [];
      for await (const event of run.events()) if (event.type === "tool.finished") results.push(event.ok);
      expect(results).to.deep.equal([ok]);
    }
  });

  it("approves with other arguments than the model's, which have to fit the tool", async () => {
    const run = await client.start({ agent: "asks", input: "what is 2 + 3?" });
    for await (const event of run.events()) {
      if (event.type === "approval.requested") {
        const wrong = await failure(run.approve(event.call, { arguments: { expression: 7 } }));
        expect(wrong).to.be.instanceOf(ClientError).and.include({ status: 400, code: "invalid_input" });
        await run.approve(event.call, { arguments: { expression: "40 + 2" } });
      }
      if (event.type === "tool.finished") expect(event.output).to.include("42");
    }
  });

  it("steers, cancels, and rejects with the error of the run", async () => {
    const run = await client.start({ agent: "slow", input: "go" });
    await run.steer("in German, please");
    const view = await run.cancel({ reason: "enough" });
    expect(view).to.include({ run: run.id, status: "cancelled" });
    expect(view.error?.code).to.equal("stream_interrupted");
    const error = await failure(run.result());
    expect(error).to.be.instanceOf(ClientError).and.include({ code: "stream_interrupted", retryable: false });
    expect(String(error)).to.equal("agent.run: stream_interrupted: enough");
  });

  it("lists runs by pages, sessions, agents and the turns of a session, and erases them", async () => {
    const session = randomUUID();
    for (const input of ["one", "two", "three"]) {
      await (await client.start({ agent: "assistant", input, session })).result();
    }
    const first = await client.runs({ session, limit: 2 });
    expect(first.runs.length).to.equal(2);
    const second = await client.runs({ session, limit: 2, cursor: first.cursor ?? "" });
    expect(second.runs.length).to.equal(1);
    const { runs } = await client.session(session);
    expect(runs.map((turn) => turn.input.text)).to.deep.equal(["one", "two", "three"]);
    const found = (await client.sessions({ agent: "assistant" })).sessions.find((entry) => entry.session === session);
    expect(found?.last.run).to.equal(runs.at(-1)?.run);
    expect((await client.runs({ session, until: Date.now(), since: "2020-01-01" })).runs.length).to.equal(3);
    await client.run(runs[0]?.run ?? "").remove();
    expect(await failure(client.run(runs[0]?.run ?? "").get())).to.include({ code: "not_found" });
    expect((await client.removeSession(session)).toSorted()).to.deep.equal(
      runs
        .slice(1)
        .map(({ run }) => run)
        .toSorted(),
    );
    expect((await client.me()).may).to.include("start");
    expect((await client.agents()).map((agent) => agent.name)).to.include.members(["assistant", "asks"]);
  });

  it("passes on what the service says of a bad request, at once", async () => {
    const error = await failure(client.start({ agent: "nobody", input: "go" }));
    expect(error).to.be.instanceOf(ClientError).and.include({ code: "not_found", status: 404, retryable: false });
    expect(error)
      .to.have.property("op")
      .that.matches(/run\.start/);
    const unknown = await failure(client.run("run_0").get());
    expect(unknown).to.include({ code: "not_found", status: 404 });
    expect(await failure(client.run("run_0").result())).to.include({ code: "not_found", status: 404 });
  });

  it("tells that there is no service, after trying", async () => {
    let tries = 0;
    const nowhere = new VenturiClient({
      url: "http://127.0.0.1:9",
      retry: { ...retry, attempts: 3 },
      fetch: (...words) => {
        tries++;
        return fetch(...words);
      },
    });
    const error = await failure(nowhere.agents());
    expect(error).to.be.instanceOf(ClientError).and.include({ op: "agent.list", code: "unavailable", status: 0 });
    expect(tries).to.equal(3);
  });

  it("does not repeat a message whose answer was lost, and repeats one that was refused", async () => {
    const run = await client.start({ agent: "slow", input: "go" });
    let sent = 0;
    const lossy = new VenturiClient({
      url: service.url,
      retry,
      fetch: async () => {
        sent++;
        throw new TypeError("fetch failed");
      },
    });
    expect(await failure(lossy.run(run.id).steer("hello"))).to.include({ code: "unavailable" });
    expect(sent).to.equal(1);
    const proxy = await BadProxy.start(service.url);
    try {
      proxy.harm.push({ status: 503, retryAfter: "0" }, { status: 429, retryAfter: "0" });
      await new VenturiClient({ url: proxy.url, retry }).run(run.id).steer("hello");
      expect(proxy.times.length).to.equal(3);
    } finally {
      proxy.close();
      await run.cancel();
    }
  });

  it("sends its key with each request, also one that a function gives", async () => {
    const keyed = await serve({
      scripts: {},
      channels: [{ plugin: channelHttp }],
      settings: { auth: { keys: [keyOf("ada", "secret-of-ada-0123456789")] } },
    });
    try {
      const { url } = keyed;
      const without = await failure(new VenturiClient({ url, retry }).agents());
      expect(without).to.include({ code: "unauthorized", status: 401, retryable: false });
      expect(await new VenturiClient({ url, apiKey: "secret-of-ada-0123456789" }).agents()).to.deep.equal([]);
      let asked = 0;
      const key = async () => {
        asked++;
        return "secret-of-ada-0123456789";
      };
      const renewing = new VenturiClient({ url, key });
      await renewing.agents();
      await renewing.agents();
      expect(asked).to.equal(2);
    } finally {
      await keyed.close();
    }
  });

  it("does not retry at once when retry-after is years", async () => {
    const leaving = new AbortController();
    let isOver = false;
    const waiting = sleep(waitOf(1, { attempts: 3, first: 1, longest: 1 }, 1e12), leaving.signal).finally(() => {
      isOver = true;
    });
    await sleep(20);
    expect(isOver).to.equal(false);
    leaving.abort(new Error("left"));
    expect(await waiting.catch((thrown: Error) => thrown.message)).to.equal("left");
  });

  it("knows which codes may pass as the service does", () => {
    const disagreed = Object.entries(codes).filter(
      ([code, facts]) => new ClientError({ op: "x", code, err: "" }).retryable !== facts.retryable,
    );
    expect(disagreed).to.deep.equal([]);
  });
});
