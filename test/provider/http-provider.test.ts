import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { assert } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type {
  GenerationContext,
  GenerationRequest,
  Provider,
  StreamObserver,
  Timeouts,
} from "../../src/core/model/provider.ts";
import type { Decoder, Frame } from "../../src/core/ports/plugin.ts";
import type { HttpOptions } from "../../src/provider/http/options.ts";
import { type HttpProvider, httpProvider } from "../../src/provider/http/provider.ts";
import { Loopback } from "./loopback.ts";

/** A wire as small as can be: each event is text, "END" ends it, "CALL" is a tool call, "ODD" a quirk. */
class PlainDecoder implements Decoder {
  readonly quirks = new Map<string, number>();
  push({ data }: Frame, out: Delta[]): void {
    if (data === "END") out.push({ type: "done", finish: "stop" });
    else if (data === "CALL") out.push({ type: "tool_call", index: 0, name: "t", arguments: "{}" });
    else if (data === "ODD") this.quirks.set("odd", (this.quirks.get("odd") ?? 0) + 1);
    else if (data.startsWith("FAIL "))
      out.push({ type: "error", error: new VenturiError("provider.stream", "llm_error", data) });
    else out.push({ type: "text", text: data });
  }
  end(out: Delta[]): void {
    out.push({ type: "error", error: new VenturiError("provider.stream", "stream_error", "no end") });
  }
}

const request: GenerationRequest = { model: "m", messages: [], tools: [], options: {} };
const key = "sk-very-secret-key";

type Settings = Partial<HttpOptions> & Partial<Pick<HttpProvider, "failure">> & { readonly body?: unknown };

describe("a provider over HTTP", () => {
  const opened: { close?(): Promise<void> | void }[] = [];
  let server: Loopback | undefined;
  afterEach(async () => {
    for (const provider of opened.splice(0)) await provider.close?.();
    await server?.stop();
    server = undefined;
  });

  async function serving(
    answer: (response: ServerResponse, request: IncomingMessage) => void,
    settings: Settings = {},
  ): Promise<Provider> {
    server = await Loopback.start(answer);
    return providerAt(server.url, settings);
  }

  function providerAt(baseUrl: string, { failure, body = { hello: "wörld" }, ...options }: Settings = {}) {
    const provider = httpProvider({
      name: "plain",
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      wire: { framing: "sse", decoder: () => new PlainDecoder() },
      options: { apiKey: key, baseUrl, ...options },
      request: () => ({
        url: `${baseUrl}/generate`,
        headers: { authorization: `Bearer ${key}` },
        body,
      }),
      collect: (json) => ({
        parts: [{ type: "text", text: (json as { text: string }).text }],
        finish: "stop",
        usage: {},
      }),
      ...(failure !== undefined && { failure }),
    });
    opened.push(provider);
    return provider;
  }

  const sse = (response: ServerResponse, body: string) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(body);
  };

  it("posts JSON with its headers and yields everything one read brought as one batch", async () => {
    const provider = await serving((response) => sse(response, "data: a\n\ndata: b\n\ndata: END\n\n"), {
      headers: { "x-extra": "1" },
    });
    const batches = await collect(provider, { traceparent: "00-aa-bb-01" });
    assert.deepEqual(batches, [
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
        { type: "done", finish: "stop" },
      ],
    ]);
    const [posted] = server?.requests ?? [];
    assert.deepEqual(JSON.parse(posted?.body ?? ""), { hello: "wörld" });
    assert.deepInclude(posted?.request.headers, {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      "x-extra": "1",
      traceparent: "00-aa-bb-01",
      "accept-encoding": "identity",
    });
  });

  it("sends a body of megabytes whole and with its length, and uses the connection again", async () => {
    const body = { text: "wörld\n".repeat(500_000), small: 1 };
    const provider = await serving((response) => sse(response, "data: a\n\ndata: END\n\n"), { body });
    for (let i = 0; i < 2; i++) await collect(provider);
    for (const posted of server?.requests ?? []) {
      assert.isTrue(posted.body === JSON.stringify(body));
      assert.equal(posted.request.headers["content-length"], `${Buffer.byteLength(posted.body)}`);
    }
    assert.lengthOf(server?.requests ?? [], 2);
    assert.equal(server?.sockets.size, 1);
  });

  it("sends nothing of a large body that is given up while it is encoded", async () => {
    const provider = await serving((response) => sse(response, "data: END\n\n"), {
      body: { text: "x".repeat(9_000_000) },
    });
    const giveUp = new AbortController();
    const collected = collect(provider, { signal: giveUp.signal }).catch((thrown: unknown) => thrown);
    setImmediate(() => giveUp.abort());
    assert.instanceOf(await collected, VenturiError);
    assert.lengthOf(server?.requests ?? [], 0);
  });

  it("takes interim responses (103 Early Hints, 102 Processing) for no answer", async () => {
    const provider = await serving((response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => sse(response, "data: a\n\ndata: END\n\n"));
    });
    const batches = await collect(provider);
    assert.deepEqual(batches.flat(), [
      { type: "text", text: "a" },
      { type: "done", finish: "stop" },
    ]);
  });

  it("uses one connection for one generation after the other", async () => {
    const provider = await serving((response) => sse(response, "data: a\n\ndata: END\n\n"));
    for (let i = 0; i < 4; i++) await collect(provider);
    assert.equal(server?.sockets.size, 1);
    assert.lengthOf(server?.requests ?? [], 4);
  });

  it("ends with the format's end without waiting for the server to close, and gives the connection up later", async () => {
    const provider = await serving((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: END\n\n");
    });
    await collect(provider);
    const ended = performance.now();
    const [socket] = server?.sockets ?? [];
    if (socket !== undefined && !socket.closed) await once(socket, "close");
    assert.isAbove(performance.now() - ended, 100);
  });

  it("says stream_error when the connection breaks, after what came before", async () => {
    const provider = await serving((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: a\n\n", () => response.destroy());
    });
    const { deltas, error } = await failing(provider);
    assert.deepEqual(deltas, [{ type: "text", text: "a" }]);
    assert.equal(error.code, "stream_error");
  });

  it("hands on the decoder's error when the bytes end well but the format does not", async () => {
    const provider = await serving((response) => sse(response, "data: a\n\n"));
    const batches = await collect(provider);
    assert.equal(batches.flat().at(-1)?.type, "error");
  });

  describe("abort", () => {
    it("closes the socket at once, before the first byte and in the middle", async () => {
      for (const first of ["", "data: a\n\n"]) {
        const asked = Promise.withResolvers<ServerResponse>();
        const provider = await serving((response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          if (first === "") response.flushHeaders();
          else response.write(first);
          asked.resolve(response);
        });
        const controller = new AbortController();
        const run = failing(provider, { signal: controller.signal });
        const response = await asked.promise;
        const closed = once(response, "close");
        controller.abort();
        const { error } = await run;
        assert.equal(error.code, "stream_interrupted");
        await closed;
        assert.isFalse(response.writableFinished);
        await server?.stop();
        server = undefined;
      }
    });

    it("throws before anything is sent when the signal has already aborted", async () => {
      const provider = await serving((response) => sse(response, "data: END\n\n"));
      const { error } = await failing(provider, { signal: AbortSignal.abort() });
      assert.equal(error.code, "stream_interrupted");
      assert.lengthOf(server?.requests ?? [], 0);
    });

    it("keeps the code of the reason it was aborted with", async () => {
      const asked = Promise.withResolvers<void>();
      const provider = await serving(() => asked.resolve());
      const controller = new AbortController();
      const run = failing(provider, { signal: controller.signal });
      await asked.promise;
      controller.abort(new VenturiError("run.limit", "budget_exceeded", "no time left"));
      assert.equal((await run).error.code, "budget_exceeded");
    });

    it("sends nothing when the consumer walks away before there is a connection", async () => {
      const provider = await serving((response) => sse(response, "data: END\n\n"));
      const controller = new AbortController();
      const iterator = stream(provider, { signal: controller.signal })[Symbol.asyncIterator]();
      controller.signal.addEventListener("abort", () => void iterator.return?.());
      const first = iterator.next();
      controller.abort();
      assert.isTrue((await first).done);
      await collect(provider);
      assert.lengthOf(server?.requests ?? [], 1);
    });

    it("closes the socket when the consumer walks away", async () => {
      const closed = Promise.withResolvers<void>();
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("data: a\n\n");
        response.once("close", () => closed.resolve());
      });
      for await (const _ of stream(provider)) break;
      await closed.promise;
    });
  });

  describe("time limits", () => {
    const short = (limits: Partial<Timeouts>) => ({ timeouts: { ...long, ...limits } });

    it("connect: a server that never shakes hands is unavailable", async () => {
      const silent = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
      await once(silent, "listening");
      const { port } = silent.address() as AddressInfo; // it listens on a port, not on a pipe
      const { error } = await failing(providerAt(`https://127.0.0.1:${port}`), short({ connect: 60 }));
      assert.equal(error.code, "unavailable");
      assert.deepInclude(error.details, { timeout: "connect", ms: 60 });
      silent.close();
      await once(silent, "close");
    });

    it("firstChunk: a server that takes the request and says nothing is a timeout", async () => {
      const closed = Promise.withResolvers<void>();
      const provider = await serving((response) => {
        response.once("close", () => closed.resolve());
      });
      const { error } = await failing(provider, short({ firstChunk: 50 }));
      assert.equal(error.code, "timeout");
      assert.deepInclude(error.details, { timeout: "firstChunk", ms: 50 });
      await closed.promise;
    });

    it("idle: a server that stops in the middle is an idle_timeout", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("data: a\n\n");
      });
      const { deltas, error } = await failing(provider, short({ idle: 50 }));
      assert.lengthOf(deltas, 1);
      assert.equal(error.code, "idle_timeout");
      assert.deepInclude(error.details, { timeout: "idle" });
    });

    it("idle: comments keep a stream alive", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        let left = 8;
        const timer = setInterval(() => {
          if (left-- > 0) return response.write(": ping\n\n");
          clearInterval(timer);
          return response.end("data: END\n\n");
        }, 20);
      });
      await collect(provider, short({ idle: 100 }));
    });

    it("idle: a stall of this process is not the server's silence", async () => {
      const stall = () => {
        for (const start = performance.now(); performance.now() - start < 300; );
      };
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        let left = 12;
        const timer = setInterval(() => {
          if (left === 9) setImmediate(stall); // timers come next, reads after them
          if (left-- > 0) return response.write(": ping\n\n");
          clearInterval(timer);
          return response.end("data: END\n\n");
        }, 20);
      });
      await collect(provider, short({ idle: 100 }));
    });

    it("firstChunk: a stall of this process is not the server's silence", async () => {
      const provider = await serving((response) => {
        setTimeout(() => response.end("data: END\n\n"), 30);
        setImmediate(() => {
          for (const start = performance.now(); performance.now() - start < 300; );
        });
      });
      await collect(provider, short({ firstChunk: 100 }));
    });

    it("idle: a slow consumer is not the server's silence", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("data: a\n\n");
        setTimeout(() => response.end("data: END\n\n"), 90);
      });
      const seen: Delta[] = [];
      for await (const deltas of stream(provider, short({ idle: 60 }))) {
        seen.push(...deltas);
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      assert.equal(seen.at(-1)?.type, "done");
    });

    it("total: a stream that goes on and on is a timeout", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const timer = setInterval(() => response.write("data: a\n\n"), 5);
        response.once("close", () => clearInterval(timer));
      });
      const { error } = await failing(provider, short({ total: 80 }));
      assert.equal(error.code, "timeout");
      assert.deepInclude(error.details, { timeout: "total" });
    });
  });

  describe("statuses", () => {
    for (const [status, code] of [
      [400, "invalid_input"],
      [401, "unauthorized"],
      [402, "forbidden"],
      [403, "forbidden"],
      [404, "not_found"],
      [408, "timeout"],
      [409, "conflict"],
      [413, "too_large"],
      [422, "invalid_input"],
      [429, "rate_limited"],
      [500, "unavailable"],
      [503, "unavailable"],
      [529, "unavailable"],
    ] as const) {
      it(`${status} is ${code}`, async () => {
        const provider = await serving((response) => {
          response.writeHead(status, { "content-type": "application/json", "x-request-id": "r1" });
          response.end('{"error":{"message":"because","code":"why"}}');
        });
        const { error } = await failing(provider);
        assert.equal(error.code, code);
        assert.equal(error.message, `the provider answered ${status}: because`);
        assert.deepInclude(error.details, { status, vendorCode: "why", requestId: "r1" });
        const thrown = await provider.generate?.(request, context()).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        assert.propertyVal(thrown, "code", code);
      });
    }

    for (const [headers, details] of [
      [{ "retry-after-ms": "1500" }, { retryAfterMs: 1500 }],
      [{ "retry-after": "2" }, { retryAfterMs: 2000 }],
      [{ "retry-after-ms": "0", "retry-after": "1" }, { retryAfterMs: 1000 }],
      [{ "x-should-retry": "false" }, { retry: false }],
      [{ "x-should-retry": "true" }, { retry: true }],
    ] as const) {
      it(`tells of trying again: ${JSON.stringify(headers)}`, async () => {
        const provider = await serving((response) => response.writeHead(429, headers).end());
        assert.deepInclude((await failing(provider)).error.details, details);
      });
    }

    it("reads a date in retry-after, and the delay inside Google's details", async () => {
      const date = new Date(Date.now() + 30_000).toUTCString();
      const dated = await serving((response) => response.writeHead(503, { "retry-after": date }).end());
      assert.approximately(Number((await failing(dated)).error.details?.retryAfterMs), 30_000, 20_000);
      await server?.stop();
      const google = await serving((response) =>
        response.writeHead(429).end('[{"error":{"code":429,"message":"m","details":[{"retryDelay":"1.5s"}]}}]'),
      );
      assert.deepInclude((await failing(google)).error.details, { retryAfterMs: 1500 });
    });

    it("says that waiting does not help against an empty account", async () => {
      const provider = await serving((response) =>
        response.writeHead(429).end('{"error":{"code":"insufficient_quota"}}'),
      );
      assert.deepInclude((await failing(provider)).error.details, { retry: false });
    });

    it("lets the vendor's own meaning win", async () => {
      const provider = await serving((response) => response.writeHead(418).end("tea"), {
        failure: ({ status, body }) => new VenturiError("provider.stream", "unavailable", `${status} ${body}`),
      });
      assert.deepInclude((await failing(provider)).error, { code: "unavailable", message: "418 tea" });
    });

    it("reads only a bounded part of an error's body", async () => {
      const provider = await serving((response) => {
        response.writeHead(500);
        const more = () => {
          while (response.write("x".repeat(65_536)));
          response.once("drain", more);
        };
        more();
      });
      assert.isBelow((await failing(provider)).error.message.length, 700);
    });

    it("does not follow a redirect", async () => {
      const provider = await serving((response) => response.writeHead(307, { location: "/elsewhere" }).end());
      const { error } = await failing(provider);
      assert.equal(error.code, "llm_error");
      assert.lengthOf(server?.requests ?? [], 1);
    });

    it("a port where nobody listens is unavailable", async () => {
      const closed = await Loopback.start(() => {});
      const url = closed.url;
      await closed.stop();
      const { error } = await failing(providerAt(url));
      assert.equal(error.code, "unavailable");
      assert.deepInclude(error.details, { reason: "ECONNREFUSED" });
    });
  });

  it("goes through a proxy when one is configured, and never by the environment's word", async () => {
    const direct = await serving((response) => sse(response, "data: END\n\n"));
    const before = process.env.http_proxy;
    process.env.http_proxy = "http://127.0.0.1:9";
    try {
      await collect(direct);
    } finally {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
    }
    const proxied = providerAt("http://model.invalid", { proxy: server?.url ?? "" });
    await collect(proxied);
    assert.deepEqual(
      server?.requests.map(({ request }) => request.url),
      ["/generate", "http://model.invalid/generate"],
    );
  });

  it("tells a proxy who it is, by a name alone too", async () => {
    await serving((response) => sse(response, "data: END\n\n"));
    const proxy = (server?.url ?? "").replace("http://", "http://to%20ken@");
    await collect(providerAt("http://model.invalid", { proxy }));
    const [seen] = server?.requests ?? [];
    assert.equal(seen?.request.headers["proxy-authorization"], `Basic ${Buffer.from("to ken:").toString("base64")}`);
  });

  it("sends a configured header instead of its own, however that is spelled", async () => {
    const headers = { Authorization: "Bearer mine", "USER-AGENT": "me" };
    const provider = await serving((response) => sse(response, "data: END\n\n"), { headers });
    await collect(provider);
    const sent = server?.requests[0]?.request;
    assert.deepInclude(sent?.headers, { authorization: "Bearer mine", "user-agent": "me" });
    assert.lengthOf(sent?.rawHeaders.filter((name) => name.toLowerCase() === "authorization") ?? [], 1);
  });

  it("says who it is where the address does", async () => {
    await serving((response) => sse(response, "data: END\n\n"));
    const address = (server?.url ?? "").replace("http://", "http://me:pass@");
    const provider = httpProvider({
      name: "plain",
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      wire: { framing: "sse", decoder: () => new PlainDecoder() },
      options: { baseUrl: address },
      request: () => ({ url: `${address}/generate`, headers: {}, body: {} }),
      collect: () => ({ parts: [], finish: "stop", usage: {} }),
    });
    opened.push(provider);
    await collect(provider);
    assert.equal(
      server?.requests[0]?.request.headers.authorization,
      `Basic ${Buffer.from("me:pass").toString("base64")}`,
    );
  });

  it("never shows the key, whoever repeats it", async () => {
    const echo = `bad key ${key}`;
    for (const answer of [
      (response: ServerResponse) =>
        response.writeHead(401).end(JSON.stringify({ error: { message: echo, code: key } })),
      (response: ServerResponse) => sse(response, `data: FAIL ${echo}\n\n`),
      (response: ServerResponse) => response.writeHead(200).destroy(),
    ]) {
      const provider = await serving((response) => void answer(response));
      const { error } = await failing(provider);
      for (let at: unknown = error; at instanceof Error; at = at.cause) {
        assert.notInclude(JSON.stringify({ ...at, message: at.message, stack: at.stack }), key);
      }
      await server?.stop();
      server = undefined;
    }
  });

  it("refuses an event past the limit as too_large, after what came before", async () => {
    const provider = await serving((response) => sse(response, `data: a\n\ndata: ${"x".repeat(5000)}\n\n`), {
      maxEvent: 1000,
    });
    const { deltas, error } = await failing(provider);
    assert.deepEqual(deltas, [{ type: "text", text: "a" }]);
    assert.equal(error.code, "too_large");
  });

  it("pauses the socket while the consumer does not read", async () => {
    let written = 0;
    const provider = await serving((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const block = `data: ${"x".repeat(65_528)}\n\n`;
      const more = () => {
        while (written < 1 << 26 && response.write(block)) written += block.length;
        if (written >= 1 << 26) response.end("data: END\n\n");
        else response.once("drain", more);
      };
      more();
    });
    const iterator = stream(provider)[Symbol.asyncIterator]();
    await iterator.next();
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.isBelow(written, 1 << 25);
    await iterator.return?.();
  });

  describe("answers that are whole", () => {
    it("generate posts and collects the JSON", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end('{"text":"hi"}');
      });
      assert.deepEqual(await provider.generate?.(request, context()), {
        parts: [{ type: "text", text: "hi" }],
        finish: "stop",
        usage: {},
      });
    });

    it("a stream that was asked for and answered with JSON is given as deltas", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
        response.end('{"text":"hi"}');
      });
      assert.deepEqual((await collect(provider)).flat(), [
        { type: "text", text: "hi" },
        { type: "usage", usage: {} },
        { type: "done", finish: "stop" },
      ]);
    });

    it("a stream that is labelled as JSON is still read as a stream", async () => {
      const provider = await serving((response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end("data: a\n\ndata: END\n\n");
      });
      assert.lengthOf((await collect(provider)).flat(), 2);
    });

    it("with stream: false there is no stream to ask for", () => {
      const provider = providerAt("http://127.0.0.1:1", { stream: false });
      assert.isUndefined(provider.stream);
      assert.isFalse(provider.capabilities.streaming);
    });
  });

  it("tells an observer of every chunk with its kind, size and time, of quirks and of bytes", async () => {
    const body = "data: ü\n\ndata: CALL\n\ndata: ODD\n\ndata: ODD\n\ndata: END\n\n";
    const provider = await serving((response) => sse(response, body));
    const chunks: unknown[][] = [];
    const quirks: string[] = [];
    let bytes = 0;
    const observer: StreamObserver = {
      chunk: (kind, size, start, end) => {
        assert.isAtLeast(end, start);
        chunks.push([kind, size]);
      },
      accumulated: () => {},
      quirk: (name) => quirks.push(name),
      bytes: (read) => {
        bytes += read.length;
      },
    };
    const deltas = (await collect(provider, { observer })).flat();
    assert.deepEqual(chunks, [
      ["text", 2],
      ["tool_call", 4],
      ["other", 3],
      ["other", 3],
      ["done", 3],
    ]);
    assert.deepEqual(quirks, ["odd", "odd"]);
    assert.equal(bytes, Buffer.byteLength(body));
    assert.deepInclude(deltas[1], { chunk: 1 });
  });
});

const long: Timeouts = { connect: 60_000, firstChunk: 60_000, idle: 60_000, total: 120_000 };

const context = (changes: Partial<GenerationContext> = {}): GenerationContext => ({
  run: "r",
  round: 1,
  attempt: 1,
  agent: "a",
  signal: new AbortController().signal,
  timeouts: long,
  ...changes,
});

function stream(provider: Provider, changes?: Partial<GenerationContext>): AsyncIterable<readonly Delta[]> {
  return provider.stream?.(request, context(changes)) ?? assert.fail("it does not stream");
}

async function collect(provider: Provider, changes?: Partial<GenerationContext>): Promise<(readonly Delta[])[]> {
  const batches: (readonly Delta[])[] = [];
  for await (const batch of stream(provider, changes)) batches.push(batch);
  return batches;
}

/** What came before the failure, and the failure, thrown or told as a delta. */
async function failing(
  provider: Provider,
  changes?: Partial<GenerationContext>,
): Promise<{ deltas: Delta[]; error: VenturiError }> {
  const deltas: Delta[] = [];
  try {
    for await (const batch of stream(provider, changes)) {
      for (const delta of batch) {
        if (delta.type === "error") return { deltas, error: delta.error };
        deltas.push(delta);
      }
    }
  } catch (thrown) {
    assert.instanceOf(thrown, VenturiError);
    return { deltas, error: thrown };
  }
  return assert.fail("it did not fail");
}
