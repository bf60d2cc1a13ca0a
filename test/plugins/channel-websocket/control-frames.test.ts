import { once } from "node:events";
import { expect } from "chai";
import { WebSocket } from "ws";
import channelWebsocket from "../../../plugins/channel-websocket/index.ts";
import { hello, serve } from "../../service.ts";
import { openRaw, pingFrame, pongFrame } from "./raw-socket.ts";

describe("control frames of a WebSocket", () => {
  it("are no part of a message: a peer that only answers pings for days is charged for nothing", async () => {
    const service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelWebsocket, options: { messagesPerSecond: 1_000_000 } }],
    });
    const socket = await openRaw(service.url);
    try {
      let received = "";
      socket.on("data", (data) => {
        received += data.toString("latin1");
      });
      for (let n = 0; n < 2_000; n++) socket.write(pongFrame(Buffer.alloc(100)));
      socket.write(pingFrame(Buffer.from("the last")));
      while (!received.includes("the last")) await once(socket, "data");
      expect(service.memory.held).to.equal(0);
    } finally {
      socket.destroy();
      await service.close();
    }
  });

  it("a peer is not taken for gone while its messages wait for their turn, and its pongs behind them", async () => {
    const service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelWebsocket, options: { messagesPerSecond: 10 } }],
      limits: { keepAlive: 50 },
    });
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    try {
      await once(socket, "open");
      let answered = 0;
      socket.on("message", () => answered++);
      for (let n = 0; n < 20; n++) socket.send('{"type":"ping"}');
      while (answered < 20 && socket.readyState === socket.OPEN)
        await new Promise((resolve) => setTimeout(resolve, 10));
      expect(answered).to.equal(20);
    } finally {
      socket.terminate();
      await service.close();
    }
  });

  it("a peer that answers none is cut off", async () => {
    const service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelWebsocket }],
      limits: { keepAlive: 50 },
    });
    const socket = await openRaw(service.url);
    socket.resume();
    await once(socket, "close");
    await service.close();
  });
});
