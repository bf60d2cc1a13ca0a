import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { SseWriter } from "../../src/serve/sse-writer.ts";

describe("the writer of an event stream", () => {
  const limits = { slowReader: 1 << 20, keepAlive: 15_000, stalled: 30_000 };
  const { setInterval: start, clearInterval: stop } = globalThis;
  const running = new Set<unknown>();
  beforeEach(() => {
    globalThis.setInterval = ((...args: Parameters<typeof start>) => {
      const timer = start(...args);
      running.add(timer);
      return timer;
    }) as typeof start;
    globalThis.clearInterval = (timer) => {
      running.delete(timer);
      stop(timer);
    };
  });
  afterEach(() => {
    Object.assign(globalThis, { setInterval: start, clearInterval: stop });
    running.clear();
  });

  const ways: Record<string, (writer: SseWriter) => void> = {
    "that was ended": (writer) => writer.end("data: x\n\n"),
    "that became a plain response": (writer) => void writer.refuse({ status: 429, headers: {}, body: {} }, []),
    "that was cut": (writer) => writer.destroy(),
  };
  for (const [what, finish] of Object.entries(ways)) {
    it(`leaves no timer behind after one ${what}`, async () => {
      const closed = Promise.withResolvers<number>();
      const server = createServer((_, raw: ServerResponse) => {
        raw.on("close", () => setImmediate(() => closed.resolve(running.size)));
        running.clear(); // Those of the server.
        const writer = new SseWriter({ raw, hijack: () => {}, getHeaders: () => ({}) }, limits);
        expect(running.size).to.equal(1);
        finish(writer);
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).catch(() => {});
      expect(await closed.promise).to.equal(0);
      server.closeAllConnections();
      server.close();
    });
  }
});
