import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { StdioBridge } from "../../src/cli/mcp-bridge.ts";

describe("the bridge from stdio to an MCP service", () => {
  const tool = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" });
  const messages = {
    "a request": [tool(1)],
    "two requests with one id": [tool(1), tool(1)],
    "a notification": [JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })],
    "an answer": [JSON.stringify({ jsonrpc: "2.0", id: 7, result: {} })],
  };

  for (const [what, lines] of Object.entries(messages)) {
    it(`ends with its input although ${what} got no answer`, async () => {
      const arrived = Promise.withResolvers<void>();
      let count = 0;
      const server = createServer(() => {
        if (++count === lines.length) arrived.resolve();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
      const written: string[] = [];
      const bridge = new StdioBridge((request) => fetch(request), { url, write: (line) => written.push(line) });
      for (const line of lines) bridge.take(line);
      try {
        await arrived.promise;
        await bridge.end(0);
        expect(written).to.deep.equal([]);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }
});
