import { once } from "node:events";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { hello, serve, text } from "../../service.ts";
import { allSse } from "../../sse.ts";

const slowReader = 64 * 1024;
const readers = 30;
const block = "x".repeat(16 * 1024);
const blocks = 1_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void; // the flag above puts it there

describe("readers that stop reading", () => {
  it("cost at most the limit each, are cut off, and can resume", async function () {
    this.timeout(180_000);
    const service = await serve({
      scripts: {
        hello,
        flood: async ({ emit }) => {
          for (let index = 0; index < blocks; index++) emit(text(block));
          return { output: "" };
        },
      },
      channels: [{ plugin: channelHttp }],
      limits: { slowReader, stalled: 4_000 },
    });
    const { run } = await service.runs.start({ agent: "flood", input: {} });
    const events = `/v1/runs/${run}/events`;
    const { hostname, port } = new URL(service.url);
    await (await fetch(service.url + events)).text(); // each event's JSON is made once, for all readers
    const before = held();
    const sockets = await Promise.all(
      Array.from({ length: readers }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => {});
        socket.write(`GET ${events} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
        await once(socket, "readable");
        return socket;
      }),
    );
    // On a very busy machine the first are cut off before the last has come.
    expect(service.runs.following).to.be.within(1, readers);
    // What the limit lets wait, doubled: the socket's own buffers in this process are the client's too.
    expect(held() - before).to.be.lessThan(readers * 2 * (slowReader + 2 * block.length));
    expect(readers * blocks * block.length, "what would wait without it").to.be.greaterThan(200 * readers * slowReader);
    expect((await fetch(`${service.url}/readyz`)).status).to.equal(200);

    while (service.runs.following > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const socket of sockets) socket.destroy();
    const resumed = await allSse(await fetch(`${service.url}${events}?after=${blocks}`));
    expect(resumed.map((event) => event.event)).to.deep.equal(["text.delta", "run.finished"]);
    await service.close();
  });

  it("are distinguished from slow ones, which get everything at their own pace", async function () {
    this.timeout(180_000);
    const service = await serve({
      scripts: {
        flood: async ({ emit }) => {
          for (let index = 0; index < 600; index++) emit(text(block));
          return { output: "" };
        },
      },
      channels: [{ plugin: channelHttp }],
      limits: { slowReader, stalled: 1_000 },
    });
    const { run } = await service.runs.start({ agent: "flood", input: {} });
    const response = await fetch(`${service.url}/v1/runs/${run}/events`);
    let seen = 0;
    let chunks = 0;
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      seen += part.length;
      if (++chunks % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(seen).to.be.greaterThan(600 * block.length);
    await service.close();
  });
});

function held(): number {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
