import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { keyOf, serve, type TestService, text } from "../../service.ts";

const mebibyte = 1024 ** 2;
const block = "x".repeat(64 * 1024);

describe("large replies", () => {
  let service: TestService;
  let run: string;
  const sockets: Socket[] = [];
  const open = async (limits: Record<string, number>) => {
    service = await serve({
      scripts: {
        flood: async ({ emit }) => {
          for (let index = 0; index < 20; index++) emit(text(block));
          emit(text("é".repeat(6 * mebibyte)));
          return { output: "" };
        },
      },
      channels: [{ plugin: channelHttp }],
      settings: { auth: { keys: [keyOf("loud", "loud"), keyOf("quiet", "quiet")] } },
      limits,
    });
    for (const tenant of ["loud", "quiet"]) {
      const started = await service.runs.start({ agent: "flood", input: {} }, { tenant });
      if (tenant === "loud") run = started.run;
      else quiet = started.run;
    }
  };
  let quiet: string;
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    while (service.memory.held > 0) await sleep(5);
    expect([...service.memory.tenants]).to.deep.equal([]);
    await service.close();
  });
  const page = (key: string, of: string, after: number) =>
    fetch(`${service.url}/v1/runs/${of}/events?after=${after}`, {
      headers: { authorization: `Bearer ${key}`, accept: "application/json" },
    });
  /** Sends the request and reads nothing of the answer. */
  const unread = (key: string, after: number, accept = "application/json") => {
    const { port } = new URL(service.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.pause();
    socket.on("error", () => {});
    socket.write(
      `GET /v1/runs/${run}/events?after=${after} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nAccept: ${accept}\r\n\r\n`,
    );
    sockets.push(socket);
    return socket;
  };

  it("arrive whole", async () => {
    await open({});
    const response = await page("loud", run, 21);
    const body = await response.text();
    expect(Number(response.headers.get("content-length"))).to.equal(Buffer.byteLength(body));
    const last = JSON.parse(body) as { events: { text?: string }[] };
    expect(last.events[0]?.text?.length).to.equal(6 * mebibyte);
  });

  it("that nobody reads are charged to their caller, refused past its share, and cut off", async () => {
    await open({ memory: 50 * mebibyte, stalled: 3_000 });
    for (let count = 0; count < 30; count++) unread("loud", 21);
    while ((service.memory.tenants.get("loud") ?? 0) < 24 * mebibyte) await sleep(5);
    expect(service.memory.held).to.be.at.most(50 * mebibyte);
    const refused = await page("loud", run, 21);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get("retry-after")).to.equal("1");
    // Another tenant's reply goes out meanwhile.
    expect((await page("quiet", quiet, 21)).status).to.equal(200);
    await Promise.all(sockets.map((socket) => socket.closed || once(socket.resume(), "close")));
  });

  it("of events larger than a reader's buffer count too, and are cut where there is no room", async () => {
    await open({ memory: 50 * mebibyte, stalled: 3_000, slowReader: 64 * 1024 });
    for (let count = 0; count < 12; count++) unread("loud", 21, "text/event-stream");
    while ((service.memory.tenants.get("loud") ?? 0) < 12 * mebibyte) await sleep(5);
    expect(service.memory.held).to.be.at.most(50 * mebibyte);
    await Promise.all(sockets.map((socket) => socket.closed || once(socket.resume(), "close")));
  });
});
