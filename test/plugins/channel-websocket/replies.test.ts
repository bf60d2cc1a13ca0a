import { once } from "node:events";
import { expect } from "chai";
import WebSocket from "ws";
import channelWebsocket from "../../../plugins/channel-websocket/index.ts";
import { hello, serve, type TestService } from "../../service.ts";

type Reply = { type: string; id?: string; error?: { op: string; code: string; err: string } };

describe("what a WebSocket answers", () => {
  let service: TestService;
  const ended = Promise.withResolvers<void>();
  before(async () => {
    service = await serve({
      settings: { cors: { origins: ["https://a.example"] } },
      scripts: {
        hello,
        endless: async ({ signal }) => {
          await once(signal, "abort");
          ended.resolve();
          return undefined;
        },
      },
      channels: [{ plugin: channelWebsocket, options: { onDisconnect: "cancel" } }],
    });
  });
  after(() => service.close());
  const open = async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    return socket;
  };

  it("names the message that cannot be accepted, so that its sender does not wait for ever", async () => {
    const socket = await open();
    const reply = async (message: object): Promise<Reply> => {
      socket.send(JSON.stringify(message));
      const [data] = (await once(socket, "message")) as [Buffer];
      return JSON.parse(String(data)) as Reply;
    };
    for (const message of [
      { type: "run", id: "a" },
      { type: "run", agent: "hello", input: "x", key: "", id: "b" },
      { type: "run", agent: "hello", input: "x", unknown: 1, id: "c" },
      { type: "subscribe", run: "x", after: -1, id: "d" },
      { type: "nothing", id: "e" },
      { id: "f" },
    ]) {
      const { type, id, error } = await reply(message);
      expect([type, id, error?.code], JSON.stringify(message)).to.deep.equal([
        "stream_error",
        message.id,
        "invalid_input",
      ]);
    }
    for (const message of [{ type: "ping", id: 5 }, { type: "ping", id: "x".repeat(257) }, ["id"]])
      expect(await reply(message))
        .to.deep.include({ type: "stream_error" })
        .and.not.have.property("id");
    socket.close();
    await once(socket, "close");
  });

  it("is an error with op and code for a request that is no WebSocket's", async () => {
    const response = await fetch(`${service.url}/ws`);
    expect(response.status).to.equal(400);
    const { error } = (await response.json()) as { error: object };
    expect(error).to.deep.include({ op: "socket.open", code: "invalid_input" });
    const options = await fetch(`${service.url}/ws`, { method: "OPTIONS" });
    expect([options.status, await options.text()]).to.deep.equal([204, ""]);
  });

  it("cancels a run whose socket closed while it was being started", async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { runs } = service;
    const start = runs.start.bind(runs);
    runs.start = async (...given) => {
      asked.resolve();
      await gate.promise;
      return await start(...given);
    };
    const socket = await open();
    socket.send(JSON.stringify({ type: "run", agent: "endless", input: "x" }));
    await asked.promise;
    socket.terminate();
    await once(socket, "close");
    for (let asks = 0; asks < 3; asks++) await (await fetch(`${service.url}/livez`)).text(); // The close arrives before these.
    gate.resolve();
    await ended.promise;
    runs.start = start;
  });
});
