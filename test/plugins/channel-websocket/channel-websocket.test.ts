import { once } from "node:events";
import { expect } from "chai";
import WebSocket from "ws";
import channelWebsocket from "../../../plugins/channel-websocket/index.ts";
import { hello, keyOf, serve, type TestService, text } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

type Received = Record<string, unknown> & { type: string; run: string; seq: number };

/** A socket whose messages can be waited for. */
class Client {
  readonly socket: WebSocket;
  readonly received: Received[] = [];
  #wake = () => {};

  constructor(url: string, protocols?: string[]) {
    this.socket = new WebSocket(url, protocols);
    this.socket.on("message", (data) => {
      this.received.push(JSON.parse(String(data)) as Received);
      this.#wake();
    });
  }

  async open(): Promise<this> {
    await once(this.socket, "open");
    return this;
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  async until(found: (message: Received) => boolean): Promise<Received> {
    for (;;) {
      const message = this.received.find(found);
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

describe("channel-websocket", () => {
  let service: TestService;
  let client: Client;
  const url = (from = service) => `${from.url.replace("http", "ws")}/ws`;
  before(async () => {
    service = await serve({
      limits: { body: 4 * 1024 * 1024 },
      scripts: {
        ...scripts,
        asking: async ({ emit, received }) => {
          emit({ type: "approval.requested", round: 1, call: "c1", name: "shell", arguments: {} });
          const { body } = await received("approve");
          return { output: String(body.approved) };
        },
        steered: async ({ received }) => ({ output: String((await received("message")).body.text) }),
        calling: async ({ emit, received }) => {
          emit(text("Let me see. I will look that up"));
          emit({ type: "tool_call.started", round: 1, call: "c1", name: "search", index: 0 });
          await received("message"); // the arguments take as long as the client says
          emit({ type: "tool_call.ready", round: 1, call: "c1", name: "search", arguments: {} });
          return { output: "" };
        },
        speaking: async ({ emit }) => {
          for (const piece of ["Dr. Who", " is 3.5", " m tall. ", "Is he", "? Yes"]) emit(text(piece));
          emit({ type: "round.finished", round: 1, finish: "stop", usage: {} });
          return undefined;
        },
      },
      channels: [{ plugin: channelWebsocket, options: { subscriptions: 3 } }],
    });
  });
  after(() => service.close());
  beforeEach(async () => {
    client = await new Client(url()).open();
  });
  afterEach(() => client.socket.close());
  const ended = (run?: string) => (message: Received) =>
    /^stream_(end|error)$/.test(message.type) && (run === undefined || message.run === run);

  it("streams a run as deltas, with the client's own id at both ends", async () => {
    client.send({ type: "run", id: "mine", agent: "hello", input: "hi" });
    const end = await client.until(ended());
    expect(client.received[0]).to.include({ type: "stream_start", id: "mine", agent: "hello" });
    const deltas = client.received.filter((message) => message.type === "stream_chunk").map((message) => message.delta);
    expect(deltas).to.deep.equal(["Hel", "lo", " world."]);
    expect(end).to.include({ type: "stream_end", id: "mine", output: "Hello world." });
  });

  it("carries several runs at once, tools shown", async () => {
    client.send({ type: "run", id: "a", agent: "clockwork", input: "hi" });
    client.send({ type: "run", id: "b", agent: "hello", input: "hi" });
    await client.until((message) => ended()(message) && message.id === "a");
    await client.until((message) => ended()(message) && message.id === "b");
    expect(client.received.find((message) => message.type === "tool_call")).to.include({ name: "clock", call: "c1" });
    expect(client.received.find((message) => message.type === "tool_result")).to.include({ ok: true, output: "noon" });
  });

  it("resumes another socket's run from a seq, and gives it to several followers", async () => {
    client.send({ type: "run", agent: "endless", input: "hi" });
    const { run, seq } = await client.until((message) => message.type === "stream_chunk");
    const others = await Promise.all([new Client(url()).open(), new Client(url()).open()]);
    for (const other of others) other.send({ type: "subscribe", run, after: seq });
    others[0]?.send({ type: "cancel", run });
    for (const other of [client, ...others]) await other.until(ended(run));
    expect(others.map((other) => other.received.map((message) => message.seq))).to.deep.equal([[seq + 1], [seq + 1]]);
    for (const other of others) other.socket.close();
  });

  it("says whole sentences the moment they are complete, and resumes between them", async () => {
    client.send({ type: "run", agent: "speaking", input: "hi", sentences: true });
    const { run } = await client.until(ended());
    const spoken = (from: Client) => from.received.filter((message) => message.type === "stream_chunk");
    const sentences = spoken(client).map((message) => message.delta);
    expect(sentences).to.deep.equal(["Dr. Who is 3.5 m tall. ", "Is he? ", "Yes"]);
    const other = await new Client(url()).open();
    other.send({ type: "subscribe", run, after: spoken(client)[0]?.seq, sentences: true });
    await other.until(ended());
    expect(spoken(other).map((message) => message.delta)).to.deep.equal(["Is he? ", "Yes"]);
    other.socket.close();
  });

  it("says what stands before a tool call while its arguments are still being written", async () => {
    client.send({ type: "run", agent: "calling", input: "hi", sentences: true });
    const { run } = await client.until((message) => message.delta === "I will look that up");
    expect(client.received.map((message) => message.type)).not.to.include("tool_call");
    client.send({ type: "message", run, text: "go on" });
    await client.until(ended(run));
    expect(client.received.map((message) => message.type)).to.include("tool_call");
  });

  it("answers approvals and steers", async () => {
    client.send({ type: "run", agent: "asking", input: "hi" });
    const { run, call } = await client.until((message) => message.type === "approval_request");
    client.send({ type: "approve", run, call, approved: true });
    expect((await client.until(ended(run))).output).to.equal("true");
    client.send({ type: "run", agent: "steered", input: "hi" });
    const start = await client.until((message) => message.type === "stream_start" && message.run !== run);
    client.send({ type: "message", run: start.run, text: "left" });
    expect((await client.until(ended(start.run))).output).to.equal("left");
  });

  it("reports unsupported commands and continues", async () => {
    const refused = async (message: unknown) => {
      client.received.length = 0;
      client.socket.send(typeof message === "string" ? message : JSON.stringify(message));
      return ((await client.until(ended())).error as { code: string }).code;
    };
    expect(await refused("{")).to.equal("invalid_input");
    expect(await refused('{"type":"ping","__proto__":{}}')).to.equal("invalid_input");
    expect(await refused("[".repeat(10_000))).to.equal("invalid_input");
    expect(await refused({ type: "fly" })).to.equal("invalid_input");
    expect(await refused({ type: "run", agent: "nobody", input: "hi" })).to.equal("not_found");
    expect(await refused({ type: "subscribe", run: "none" })).to.equal("not_found");
    client.send({ type: "ping", id: "p" });
    await client.until((message) => message.type === "pong");
  });

  it("follows no more runs on one socket than it may", async () => {
    for (let index = 0; index < 4; index++)
      client.send({ type: "run", id: String(index), agent: "endless", input: "hi" });
    const refused = await client.until(ended());
    expect(refused).to.have.nested.property("error.code", "too_large");
    for (const row of (await service.runs.list({ state: "running" })).runs) await service.runs.cancel(row.run);
  });

  it("closes on a message of more than 4 MiB, or than a body may have", async () => {
    const large = await new Client(url()).open();
    large.socket.on("error", () => {});
    large.socket.send("x".repeat(5 * 1024 * 1024));
    const [code] = (await once(large.socket, "close")) as [number];
    expect(code).to.equal(1009);
  });

  it("takes the key as a header or a subprotocol, and cancels with the socket when configured", async () => {
    const guarded = await serve({
      scripts,
      channels: [{ plugin: channelWebsocket, options: { onDisconnect: "cancel" } }],
      settings: { auth: { keys: [keyOf("a", "sesame")] } },
    });
    const stranger = new WebSocket(url(guarded));
    const [error] = (await once(stranger, "error")) as [Error];
    expect(error.message).to.include("401");
    const known = await new Client(url(guarded), ["venturi", "bearer.sesame"]).open();
    known.send({ type: "run", agent: "endless", input: "hi" });
    const { run } = await known.until((message) => message.type === "stream_chunk");
    known.socket.terminate();
    while ((await guarded.runs.get(run)).outcome !== "failed") await new Promise((resolve) => setImmediate(resolve));
    await guarded.close();
  });

  it("counts each run of a socket against the key's rate", async () => {
    const limited = await serve({
      scripts,
      channels: [{ plugin: channelWebsocket }],
      settings: { auth: { keys: [{ ...keyOf("a", "sesame"), requestsPerMinute: 3 }] } },
    });
    const socket = await new Client(url(limited), ["venturi", "bearer.sesame"]).open();
    for (let index = 1; index <= 4; index++) {
      socket.send({ type: "run", id: String(index), agent: "hello", input: "hi" });
      await socket.until((message) => ended()(message) && message.id === String(index));
    }
    const endings = socket.received.filter(ended()).map((message) => message.type);
    expect(endings).to.deep.equal(["stream_end", "stream_end", "stream_end", "stream_error"]);
    expect(socket.received.at(-1)).to.have.nested.property("error.code", "rate_limited");
    socket.socket.close();
    await limited.close();
  });

  it("lets go of a socket that takes nothing, with no more waiting for it than it may cost", async () => {
    const block = "x".repeat(32 * 1024);
    const small = await serve({
      scripts: {
        flood: async ({ emit }) => {
          for (let index = 0; index < 1_000; index++) emit(text(block));
          return undefined;
        },
        hello,
      },
      channels: [{ plugin: channelWebsocket }],
      limits: { slowReader: 256 * 1024, stalled: 300 },
    });
    const slow = await new Client(url(small)).open();
    slow.socket.on("error", () => {});
    slow.send({ type: "run", agent: "flood", input: "hi" });
    await slow.until((message) => message.type === "stream_chunk");
    slow.socket.pause();
    while (small.runs.following === 0) await new Promise((resolve) => setImmediate(resolve));
    let most = 0;
    while (small.runs.following > 0) {
      for (const { bufferedAmount } of small.app.websocketServer.clients) most = Math.max(most, bufferedAmount);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(most).to.be.within(128 * 1024, 256 * 1024 + 2 * block.length);
    slow.socket.resume();
    if (slow.socket.readyState !== WebSocket.CLOSED) await once(slow.socket, "close");
    expect(slow.received.length).to.be.lessThan(1_000);
    await small.close();
  });
});
