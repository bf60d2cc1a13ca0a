import { strict as assert } from "node:assert";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { VenturiError } from "../core/errors/errors.ts";
import type { Delta } from "../core/model/deltas.ts";
import { textMessage } from "../core/model/messages.ts";
import type { GenerationContext, GenerationRequest, Provider } from "../core/model/provider.ts";
import type { Instance } from "../core/ports/plugin.ts";
import { Transcript } from "../provider/transcript.ts";

/** Bodies as the vendor's server sends them, with their meaning. */
export interface ProviderSamples {
  readonly contentType: string;
  /** A streamed answer. `complete`: from which byte on it counts as complete; by default only as a whole. */
  readonly text: { readonly body: string | Uint8Array; readonly text: string; readonly complete?: number };
  /** A streamed answer with one tool call. */
  readonly toolCall: {
    readonly body: string | Uint8Array;
    readonly name: string;
    readonly arguments: Record<string, unknown>;
  };
  /** A stream that reports an error after it has begun. */
  readonly failure?: { readonly body: string | Uint8Array; readonly code: string };
  /** A non-streamed answer, for `generate`. */
  readonly whole?: { readonly body: string; readonly text: string };
}

export interface ProviderSubject {
  /** A new provider for the server at `baseUrl` with the key `key`. */
  create(settings: { baseUrl: string; key: string }): Promise<Instance<Provider>> | Instance<Provider>;
  readonly samples: ProviderSamples;
}

const key = "key-that-nobody-may-see";

/** The contract of every provider, as mocha cases, over real HTTP on loopback. */
export function providerContract(name: string, subject: ProviderSubject): void {
  const { samples } = subject;
  describe(`provider contract: ${name}`, () => {
    let answer: (response: ServerResponse) => void = () => {};
    const server = createServer((request, response) => {
      request.resume().once("end", () => answer(response));
    });
    let provider: Instance<Provider>;

    before(async () => {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo; // It listens on a port.
      provider = await subject.create({ baseUrl: `http://127.0.0.1:${port}`, key });
    });
    after(async () => {
      await provider.close?.();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    });

    const sending = (body: string | Uint8Array, ...more: Uint8Array[]) => {
      answer = async (response) => {
        response.writeHead(200, { "content-type": samples.contentType });
        for (const piece of [body, ...more]) {
          response.write(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      };
    };

    it("says what it can do, and can do one of the two", () => {
      for (const capability of ["streaming", "tools", "vision", "reasoning"] as const) {
        assert.equal(typeof provider.capabilities[capability], "boolean", capability);
      }
      assert.ok(provider.stream !== undefined || provider.generate !== undefined);
      assert.equal(provider.capabilities.streaming, provider.stream !== undefined);
    });

    it("streams text and ends with one done, after which only usage may come", async () => {
      sending(samples.text.body);
      const deltas = await collect(provider);
      assert.equal(fold(deltas).text, samples.text.text);
      const ends = deltas.filter(isEnd);
      assert.deepEqual(
        ends.map((end) => end.type),
        ["done"],
      );
      for (const delta of deltas.slice(deltas.findIndex(isEnd) + 1)) assert.equal(delta.type, "usage");
    });

    it("gives the same deltas however the network cuts the bytes", async () => {
      for (const body of [samples.text.body, samples.toolCall.body]) {
        sending(body);
        const expected = JSON.stringify(await collect(provider));
        const bytes = Buffer.from(body);
        for (const size of [1, 7, 61]) {
          const pieces: Uint8Array[] = [];
          for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
          sending("", ...pieces);
          assert.equal(JSON.stringify(await collect(provider)), expected, `in pieces of ${size}`);
        }
      }
    }).timeout(20_000);

    it("streams a tool call with its whole arguments", async () => {
      sending(samples.toolCall.body);
      const transcript = fold(await collect(provider));
      const [call, ...others] = transcript.calls;
      assert.equal(others.length, 0);
      assert.equal(call?.name, samples.toolCall.name);
      assert.ok(call?.id !== "");
      assert.deepEqual(call?.result(), { ok: true, arguments: samples.toolCall.arguments });
    });

    it("fails exactly once, and never ends well, when the stream is cut", async () => {
      const bytes = Buffer.from(samples.text.body);
      const complete = samples.text.complete ?? lengthOf(samples.text.body);
      const steps = Math.max(1, Math.floor(complete / 40));
      for (let cut = 0; cut < complete; cut += steps) {
        sending(bytes.subarray(0, cut));
        const { deltas, error } = await outcome(provider);
        assert.ok(VenturiError.isInstance(error), `cut at ${cut}`);
        assert.equal(error.code, "stream_error", `cut at ${cut}`);
        assert.ok(!deltas.some(isEnd), `cut at ${cut}`);
      }
    }).timeout(20_000);

    it("fails when the connection breaks, also after a complete event", async () => {
      answer = (response) => {
        response.writeHead(200, { "content-type": samples.contentType });
        const half = samples.text.body.slice(0, samples.text.body.length / 2);
        response.write(half, () => response.destroy());
      };
      assert.equal((await outcome(provider)).error?.code, "stream_error");
    });

    if (samples.failure !== undefined) {
      const { body, code } = samples.failure;
      it("tells an error that comes inside the stream by its kind", async () => {
        sending(body);
        assert.equal((await outcome(provider)).error?.code, code);
      });
    }

    it("closes the connection at once when it is aborted, and throws", async () => {
      const asked = Promise.withResolvers<ServerResponse>();
      answer = (response) => {
        response.writeHead(200, { "content-type": samples.contentType }).flushHeaders();
        asked.resolve(response);
      };
      const controller = new AbortController();
      const run = outcome(provider, controller.signal);
      const response = await asked.promise;
      const closed = once(response, "close");
      controller.abort();
      assert.equal((await run).error?.code, "stream_interrupted");
      await closed;
    });

    for (const [status, code] of [
      [401, "unauthorized"],
      [403, "forbidden"],
      [404, "not_found"],
      [429, "rate_limited"],
      [500, "unavailable"],
      [503, "unavailable"],
    ] as const) {
      it(`${status} is ${code}, without the key, with what was said about trying again`, async () => {
        answer = (response) => {
          response.writeHead(status, { "content-type": "application/json", "retry-after": "3" });
          response.end(JSON.stringify({ error: { message: `not with ${key}` } }));
        };
        const { error } = await outcome(provider);
        assert.equal(error?.code, code);
        assert.equal(error?.details?.retryAfterMs, 3000);
        assert.ok(!JSON.stringify(error).includes(key) && !String(error?.stack).includes(key));
      });
    }

    const { whole } = samples;
    if (whole !== undefined) {
      it("answers in one piece when it is asked to", async () => {
        answer = (response) => response.writeHead(200, { "content-type": "application/json" }).end(whole.body);
        const generation = await provider.generate?.(request, context());
        const text = generation?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
        assert.equal(text, whole.text);
      });
    }
  });
}

const request: GenerationRequest = {
  model: "model",
  messages: [textMessage("user", "Hello")],
  tools: [{ name: "tool", description: "does something", parameters: { type: "object", properties: {} } }],
  options: {},
};

const context = (signal: AbortSignal = new AbortController().signal): GenerationContext => ({
  run: "run",
  round: 1,
  attempt: 1,
  agent: "agent",
  signal,
  timeouts: { connect: 5_000, firstChunk: 5_000, idle: 5_000, total: 20_000 },
});

/** Without trailing line breaks, which do not complete anything. */
const lengthOf = (body: string | Uint8Array): number =>
  typeof body === "string" ? Buffer.byteLength(body.trimEnd()) : body.length;

const isEnd = (delta: Delta): boolean => delta.type === "done" || delta.type === "error";

async function collect(provider: Provider): Promise<Delta[]> {
  const { deltas, error } = await outcome(provider);
  if (error !== undefined) throw error;
  return deltas;
}

/** The deltas before a failure, and the failure, whether thrown or sent as a delta. */
async function outcome(provider: Provider, signal?: AbortSignal): Promise<{ deltas: Delta[]; error?: VenturiError }> {
  const deltas: Delta[] = [];
  try {
    for await (const batch of provider.stream?.(request, context(signal)) ?? []) {
      for (const delta of batch) {
        if (delta.type === "error") return { deltas, error: delta.error };
        deltas.push(delta);
      }
    }
  } catch (thrown) {
    if (!VenturiError.isInstance(thrown)) throw thrown;
    return { deltas, error: thrown };
  }
  return { deltas };
}

function fold(deltas: readonly Delta[]): Transcript {
  const transcript = new Transcript();
  transcript.push(deltas);
  return transcript;
}
