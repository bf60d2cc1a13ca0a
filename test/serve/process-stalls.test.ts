import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { WebSocket } from "ws";
import channelWebsocket from "../../plugins/channel-websocket/index.ts";
import { ArrivalRate } from "../../src/serve/arrival-rate.ts";
import { StallWatch } from "../../src/serve/stall-watch.ts";
import { hello, serve } from "../service.ts";

const block = (ms: number): void => {
  for (const start = performance.now(); performance.now() - start < ms; );
};

describe("while this process stands still", () => {
  /** Much is written to a peer that does not read. */
  async function unread(): Promise<{ sender: Socket; peer: Socket; close(): void }> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const peer = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
    const [sender] = (await once(server, "connection")) as [Socket];
    for (const socket of [sender, peer]) socket.on("error", () => {});
    sender.write(Buffer.alloc(32 * 1024 * 1024));
    const close = () => {
      peer.destroy();
      sender.destroy();
      server.close();
    };
    return { sender, peer, close };
  }

  it("a reader that reads is not taken for a stalled one", async () => {
    const { sender, peer, close } = await unread();
    let stalled = false;
    const watch = new StallWatch(sender, 400, () => (stalled = true));
    await sleep(150);
    peer.resume();
    block(800);
    while (sender.writableLength > 0) await sleep(1);
    expect(stalled).to.equal(false);
    watch.stop();
    close();
  });

  it("a reader that never reads is cut off all the same", async () => {
    const { sender, close } = await unread();
    await new Promise<void>((resolve) => new StallWatch(sender, 40, resolve));
    close();
  });

  it("a WebSocket that answers pings is not taken for one that is gone", async () => {
    const service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelWebsocket }],
      limits: { keepAlive: 150 },
    });
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    let closed = false;
    socket.on("close", () => (closed = true));
    await once(socket, "open");
    for (let time = 0; time < 3; time++) {
      await once(socket, "ping");
      block(400); // its answer waits to be read
      await sleep(5);
    }
    expect(closed).to.equal(false);
    socket.terminate();
    await service.close();
  });

  it("a large message has to arrive at 64 KiB a second after two seconds in which it could be read", () => {
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      let received: number | undefined = 0;
      let late = 0;
      const rate = new ArrivalRate(
        () => received,
        () => late++,
      );
      const looks = (count: number): number => {
        for (let look = 0; look < count; look++) mock.timers.tick(500);
        return late;
      };
      expect(looks(4)).to.equal(0);
      received = undefined;
      expect(looks(20)).to.equal(0);
      received = 64 * 1024;
      expect(looks(2)).to.equal(0);
      expect(looks(1)).to.equal(1);
      rate.stop();
      expect(looks(5)).to.equal(1);
    } finally {
      mock.timers.reset();
    }
  });
});
