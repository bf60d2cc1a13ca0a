import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Agent, type Dispatcher } from "undici";
import { directReads } from "../../src/provider/http/reads.ts";

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../test/plugins/postgres/fixtures/${name}`, import.meta.url), "utf8");

const servers = {
  http: (answer: RequestListener): Server => createServer(answer),
  https: (answer: RequestListener): Server =>
    createSecureServer({ key: fixture("server.key"), cert: fixture("server.pem") }, answer),
};

describe("reads handed to the HTTP parser directly", () => {
  let agent: Agent;
  const open: Server[] = [];
  const sockets = new Set<Socket>();

  beforeEach(() => {
    agent = new Agent({ connect: { onread: directReads, ca: fixture("ca.pem") } });
  });

  afterEach(async () => {
    await agent.destroy();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
  });

  async function listen(server: Server): Promise<number> {
    open.push(server);
    server.on("connection", (socket) => sockets.add(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port; // it listens on a port, not on a pipe
  }

  for (const protocol of ["http", "https"] as const) {
    it(`over ${protocol} bring every byte, in order, to readers that pause, on connections that are used again`, async () => {
      const bodies = [0, 1, 65_535, 65_536, 65_537, 1_000_000, 3_000_000].map((size) => randomBytes(size));
      const port = await listen(
        servers[protocol](async (request, response) => {
          const body = bodies[Number(request.url?.slice(1))] ?? Buffer.alloc(0);
          for (let at = 0, step = 1; at < body.length; at += step, step = 1 + Math.floor(Math.random() * 200_000)) {
            if (!response.write(body.subarray(at, at + step))) await once(response, "drain");
            if (step % 3 === 0) await sleep(1);
          }
          response.end();
        }),
      );
      for (let round = 0; round < 4; round++) {
        const answers = await Promise.all(
          bodies.map((_, index) => new Answer(agent, `${protocol}://127.0.0.1:${port}`, `/${index}`, true).whole),
        );
        expect(answers.map(digest)).to.deep.equal(bodies.map(digest));
      }
      expect(sockets.size).to.be.lessThan(2 * bodies.length);
    });
  }

  it("are not copied: all sockets' pieces are views of one buffer", async () => {
    const port = await listen(servers.http((_, response) => response.end("x".repeat(10_000))));
    const answers = [1, 2].map(() => new Answer(agent, `http://127.0.0.1:${port}`, "/"));
    await Promise.all(answers.map(({ whole }) => whole));
    expect(new Set(answers.flatMap(({ buffers }) => [...buffers])).size).to.equal(1);
  });

  it("split anywhere, with a neighbour's reads in between, are what was sent", async () => {
    const raw =
      "HTTP/1.1 200 OK\r\nx-one: first\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nx-end: last\r\n\r\n";
    const noise = `HTTP/1.1 200 OK\r\ncontent-length: 300\r\n\r\n${"#".repeat(300)}`;
    const waiting: Socket[] = [];
    const port = await listen(
      createTcpServer((socket) => {
        socket.on("data", () => waiting.push(socket));
        socket.on("error", () => {});
      }),
    );
    const origin = `http://127.0.0.1:${port}`;
    const pair = async () => {
      while (waiting.length < 2) await sleep(1);
      return waiting.splice(0) as [Socket, Socket];
    };
    for (let split = 1; split < raw.length; split++) {
      const answers = [new Answer(agent, origin, "/"), new Answer(agent, origin, "/")];
      const [one, other] = await pair();
      one.write(raw.slice(0, split));
      await new Promise(setImmediate);
      other.write(noise);
      await Promise.race(answers.map(({ whole }) => whole));
      one.write(raw.slice(split));
      const texts = await Promise.all(answers.map(async ({ whole }) => (await whole).toString()));
      expect(texts.sort(), `split at ${split}`).to.deep.equal(["#".repeat(300), "hello world"]);
      const chunked = answers.find(({ headers }) => headers?.["transfer-encoding"] === "chunked");
      expect([chunked?.headers?.["x-one"], chunked?.trailers?.["x-end"]]).to.deep.equal(["first", "last"]);
    }
  });

  it("end with the connection: a body without a length is complete, a cut one fails after what came", async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on("error", () => {});
        socket.on("data", (asked) => {
          const length = asked.toString().includes("/cut") ? "content-length: 100\r\n" : "";
          socket.end(`HTTP/1.1 200 OK\r\n${length}connection: close\r\n\r\nsome text`);
        });
      }),
    );
    const complete = new Answer(agent, `http://127.0.0.1:${port}`, "/");
    expect((await complete.whole).toString()).to.equal("some text");
    const cut = new Answer(agent, `http://127.0.0.1:${port}`, "/cut");
    const thrown = await cut.whole.then(
      () => undefined,
      (error: Error) => error,
    );
    expect(thrown).to.be.instanceOf(Error);
    expect(Buffer.concat(cut.pieces).toString()).to.equal("some text");
  });

  it("stop while the reader is paused, and the server notices", async () => {
    const piece = Buffer.alloc(1024 * 1024, "x");
    let written = 0;
    const port = await listen(
      servers.http(async (_, response) => {
        for (; written < 64; written++) if (!response.write(piece)) await once(response, "drain");
        response.end();
      }),
    );
    const answer = new Answer(agent, `http://127.0.0.1:${port}`, "/");
    await answer.started;
    answer.controller?.pause();
    for (let before = -1; written !== before; await sleep(200)) before = written;
    expect(written).to.be.lessThan(40);
    answer.controller?.resume();
    expect((await answer.whole).length).to.equal(64 * piece.length);
  });
});

const digest = (bytes: Buffer): string => `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}`;

/** A response as undici's handlers see it. */
class Answer implements Dispatcher.DispatchHandler {
  readonly pieces: Buffer[] = [];
  readonly buffers = new Set<ArrayBufferLike>();
  readonly whole: Promise<Buffer>;
  readonly started: Promise<void>;
  controller: Dispatcher.DispatchController | undefined;
  headers: Record<string, unknown> | undefined;
  trailers: Record<string, unknown> | undefined;
  readonly #pausing: boolean;
  readonly #whole = Promise.withResolvers<Buffer>();
  readonly #started = Promise.withResolvers<void>();

  constructor(agent: Agent, origin: string, path: string, pausing = false) {
    this.whole = this.#whole.promise;
    this.started = this.#started.promise;
    this.#pausing = pausing;
    agent.dispatch({ origin, path, method: "GET" }, this);
  }

  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, _: number, headers: Record<string, unknown>): void {
    this.controller = controller;
    this.headers = headers;
    this.#started.resolve();
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.pieces.push(Buffer.from(piece)); // valid until this returns
    this.buffers.add(piece.buffer);
    if (!this.#pausing || Math.random() < 0.7) return;
    controller.pause();
    setTimeout(() => controller.resume(), Math.random() * 4);
  }

  onResponseEnd(_: Dispatcher.DispatchController, trailers: Record<string, unknown>): void {
    this.trailers = trailers;
    this.#whole.resolve(Buffer.concat(this.pieces));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#whole.reject(error);
  }
}
