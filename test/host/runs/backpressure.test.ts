import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openVenturi, type Venturi } from "../../../src/index.ts";

const whole = 256 * 1024 * 1024;
const chunk = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;

describe("a consumer that stops reading", () => {
  let sent = 0;
  let closed = false;
  let folder: string;
  let venturi: Venturi;
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.once("close", () => {
      closed = true;
    });
    void flood(response);
  });

  async function flood(response: ServerResponse): Promise<void> {
    const piece = chunk("x".repeat(4_000));
    while (sent < whole && !closed) {
      sent += piece.length;
      if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end();
  }

  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // a TCP server's address
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    const configFile = join(folder, "venturi.yaml");
    await writeFile(
      configFile,
      `
version: 1
providers: { up: { type: openai, apiKey: x, baseUrl: "http://127.0.0.1:${port}/v1" } }
agents: { flood: { model: up/any } }
journal: { type: memory }
channels: {}
telemetry: off
`,
    );
    venturi = await openVenturi({ configFile, env: {} });
  });

  after(async () => {
    await venturi.close();
    server.close();
    await rm(folder, { recursive: true });
  });

  it("stops the provider, and breaking out closes its socket", async () => {
    for await (const { content } of venturi.agent("flood").streamExecute("go")) {
      if (content === undefined) continue;
      let before = -1;
      while (before !== sent) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      console.log(
        `      the provider stood still after ${(sent / 1024 / 1024).toFixed(1)} MiB of ${whole / 1024 / 1024}`,
      );
      expect(sent).to.be.lessThan(16 * 1024 * 1024);
      break;
    }
    while (!closed) await new Promise((resolve) => setImmediate(resolve));
  });
});
