import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { fetchFrom } from "../../../src/host/http/bridge.ts";

const url = "http://shop.example:8080/ai/v1/agents?limit=2";
const path = "/v1/agents?limit=2";
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it was answered"),
    (thrown: unknown) => thrown,
  );

describe("a web Request served by a Node server that does not listen", () => {
  let server: Server;
  const serving = (listener: RequestListener) => {
    server = createServer(listener);
  };
  afterEach(() => server.closeAllConnections());
  const ask = (init: RequestInit & { duplex?: "half" } = {}) => fetchFrom(server, new Request(url, init), path);

  it("arrives with its method, path, Host, headers and body, but not with the headers of its connection", async () => {
    serving(async (request, response) => {
      const body = (await buffer(request)).toString();
      response.end(JSON.stringify([request.method, request.url, request.headers, body]));
    });
    const own = { "x-user": "ada", "content-type": "text/plain" };
    const hop = { "keep-alive": "9", "proxy-connection": "x", te: "trailers", trailer: "x-sum", upgrade: "h2c" };
    const response = await ask({ method: "PUT", headers: { ...own, ...hop }, body: "some words" });
    const [method, seen, headers, body] = (await response.json()) as [string, string, Record<string, string>, string];
    expect([method, seen, body]).to.deep.equal(["PUT", path, "some words"]);
    expect(headers).to.include({ ...own, host: "shop.example:8080" });
    for (const name of Object.keys(hop)) expect(headers).not.to.have.property(name);
  });

  it("is answered with status and headers, repeated ones too, but not with those of its connection", async () => {
    serving((_, response) => {
      response.writeHead(201, [
        ...["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Run", "run_1"],
        ...["Keep-Alive", "timeout=5", "Trailer", "X-Sum", "Connection", "close", "Upgrade", "h2c"],
      ]);
      response.end("made");
    });
    const response = await ask();
    expect([response.status, await response.text()]).to.deep.equal([201, "made"]);
    expect(response.headers.getSetCookie()).to.deep.equal(["a=1", "b=2"]);
    expect(response.headers.get("x-run")).to.equal("run_1");
    const left = ["connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"];
    expect(left.filter((name) => response.headers.has(name))).to.deep.equal([]);
  });

  for (const status of [204, 304]) {
    it(`has no body when the answer is ${status}, and its connection ends`, async () => {
      serving((_, response) => void response.writeHead(status, { connection: "close" }).end());
      const ended = once(server, "connection").then(([socket]) => once(socket, "close"));
      await new Promise(setImmediate);
      const response = await ask();
      expect([response.status, response.body]).to.deep.equal([status, null]);
      await ended;
    });
  }

  it("gets bytes as they are, and none before it asks for them", async () => {
    const piece = Buffer.alloc(64 * 1024, 7);
    let written = 0;
    serving(async (_, response) => {
      for (; written < 60; written++) if (!response.write(piece)) await once(response, "drain");
      response.end();
    });
    const response = await ask();
    for (let before = -1; before !== written; ) {
      before = written;
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    }
    expect(written).to.be.below(20);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.equals(Buffer.alloc(60 * piece.length, 7))).to.equal(true);
  });

  it("fails with the signal's reason when it was aborted before or while it waits", async () => {
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    serving((request) => {
      request.on("close", () => left.resolve());
      arrived.resolve();
    });
    const before = new Error("given up before");
    expect(await failureOf(ask({ signal: AbortSignal.abort(before) }))).to.equal(before);
    const during = new AbortController();
    const failure = failureOf(ask({ signal: during.signal }));
    await arrived.promise;
    const reason = new Error("given up");
    during.abort(reason);
    expect(await failure).to.equal(reason);
    await left.promise;
  });

  it("leaves no listener at its signal", async () => {
    serving((_, response) => void response.end("done"));
    const request = new Request(url);
    const response = await fetchFrom(server, request, path);
    expect(getEventListeners(request.signal, "abort")).to.have.length(1);
    await response.text();
    while (getEventListeners(request.signal, "abort").length > 0) await sleep(2);
  });

  it("an answer that breaks off is an error for its reader, and one that never begins for its caller", async () => {
    serving((request, response) => {
      if (request.method === "DELETE") return void request.socket.destroy();
      response.write("half");
      setImmediate(() => response.destroy());
    });
    expect(await failureOf((await ask()).text())).to.include({ op: "server.fetch", code: "stream_error" });
    expect(await failureOf(ask({ method: "DELETE" }))).to.include({ op: "server.fetch", code: "stream_error" });
  });

  it("whose reader cancels is a client that has gone", async () => {
    const left = Promise.withResolvers<void>();
    serving((_, response) => void response.once("close", () => left.resolve()).write("more to come"));
    await (await ask()).body?.cancel();
    await left.promise;
  });

  it("whose body fails is a client that has gone", async () => {
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    serving((request) => {
      request.once("error", () => left.resolve()).resume();
      arrived.resolve();
    });
    let pulls = 0;
    const body = new ReadableStream({
      async pull(controller) {
        if (++pulls === 1) return controller.enqueue(Buffer.from("a part"));
        await arrived.promise;
        controller.error(new Error("the file is gone"));
      },
    });
    expect(await failureOf(ask({ method: "POST", body, duplex: "half" }))).to.include({ code: "stream_error" });
    await left.promise;
  });
});
