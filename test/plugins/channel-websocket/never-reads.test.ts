import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { WebSocket } from "ws";
import channelWebsocket from "../../../plugins/channel-websocket/index.ts";
import { endless, hello, serve, text } from "../../service.ts";
import { openRaw, pingFrame, textFrame } from "./raw-socket.ts";

const slowReader = 32 * 1024;
/** Far more than the kernel keeps for a peer that does not read. */
const much = 128 * 1024 * 1024;
const id = "i".repeat(256);

/** What a peer may send again and again; each has an answer. */
const floods: Readonly<Record<string, Buffer>> = {
  "pings of the channel": textFrame(JSON.stringify({ type: "ping", id })),
  "messages that are refused": textFrame(`{"type":"${"x".repeat(300)}"}`),
  "subscriptions to runs that are not there": textFrame(
    JSON.stringify({ type: "subscribe", run: "r".repeat(200), id }),
  ),
  "pings of the protocol": pingFrame(Buffer.alloc(125, 7)),
};

/** Sends on for ever, which is no sign of life, until it is cut off; others are answered meanwhile. */
async function sendUntilCut(socket: Socket, one: Buffer, url: string): Promise<void> {
  const many = Buffer.concat(Array(Math.ceil(65_536 / one.length)).fill(one));
  let sent = 0;
  const feed = (): void => {
    while (!socket.destroyed && sent < much) {
      sent += many.length;
      if (!socket.write(many)) return void socket.once("drain", feed);
    }
  };
  feed();
  while (!socket.destroyed) {
    await (await fetch(`${url}/livez`)).text();
    expect(sent, "what it could send").to.be.below(much);
    await sleep(20);
  }
}

describe("a WebSocket that sends and never reads", () => {
  for (const [what, one] of Object.entries(floods)) {
    it(`is not read on while its answers wait, and is cut off: ${what}`, async () => {
      const service = await serve({
        scripts: { hello },
        channels: [{ plugin: channelWebsocket, options: { messagesPerSecond: 20_000 } }],
        limits: { slowReader, stalled: 600 },
      });
      const socket = await openRaw(service.url);
      try {
        const before = process.memoryUsage().rss;
        await sendUntilCut(socket, one, service.url);
        expect(process.memoryUsage().rss - before).to.be.below(96 * 1024 * 1024);
      } finally {
        socket.destroy();
        await service.close();
      }
    });
  }

  it("one that reads gets every answer, at the rate it may ask", async () => {
    const service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelWebsocket, options: { messagesPerSecond: 50 } }],
    });
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const start = performance.now();
    const seen: number[] = [];
    const all = new Promise<void>((resolve) => {
      socket.on("message", (data) => {
        seen.push(Number(JSON.parse(String(data)).id));
        if (seen.length === 100) resolve();
      });
    });
    for (let at = 0; at < 100; at++) socket.send(JSON.stringify({ type: "ping", id: `${at}` }));
    await all;
    expect(seen).to.deep.equal(Array.from({ length: 100 }, (_, at) => at));
    // Fifty at once, the others at fifty a second.
    expect(performance.now() - start).to.be.above(700);
    socket.close();
    await service.close();
  });

  it("a cancel is heard while another command of the socket waits", async () => {
    const service = await serve({ scripts: { endless }, channels: [{ plugin: channelWebsocket }] });
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    const ended = new Promise<string>((resolve) => {
      socket.on("message", (data) => {
        const message = JSON.parse(String(data));
        if (message.type === "stream_start") socket.send(JSON.stringify({ type: "cancel", run: message.run }));
        if (message.type === "stream_error") resolve(message.error.code);
      });
    });
    socket.send(JSON.stringify({ type: "run", agent: "endless", input: "hi" }));
    expect(await ended).to.equal("stream_interrupted");
    socket.close();
    await service.close();
  });

  it("a reader of events that goes on sending is cut off when it takes nothing", async () => {
    const service = await serve({
      scripts: {
        flood: async ({ emit }) => {
          for (let index = 0; index < 2_000; index++) emit(text("x".repeat(16 * 1024)));
          return { output: "" };
        },
      },
      channels: [{ plugin: channelWebsocket }],
      limits: { slowReader, stalled: 600 },
    });
    const socket = await openRaw(service.url);
    socket.write(textFrame(JSON.stringify({ type: "run", agent: "flood", input: "hi" })));
    const sending = setInterval(() => socket.write(textFrame(JSON.stringify({ type: "ping" }))), 50);
    while (!socket.destroyed) await sleep(20);
    clearInterval(sending);
    await service.close();
  });
});
