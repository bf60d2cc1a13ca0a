import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Delta,
  type GenerationContext,
  type GenerationRequest,
  type Instance,
  type Plugin,
  type PluginContext,
  type Provider,
  silentLog,
  systemClock,
  Transcript,
  type VenturiError,
} from "../../src/internal.ts";

export interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** A vendor on loopback: answers what it is told to and remembers what it was asked. */
export async function vendor(answer: (received: Received, response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer); // a request without an encoding gives buffers
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>; // our own requests are objects
    const one = { url: request.url ?? "", headers: request.headers, body };
    received.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, received, close };
}

/** The provider as the host makes it: options checked by the plugin's own schema. */
export async function provider<Options>(
  plugin: Plugin<"provider", Options>,
  options: Record<string, unknown>,
): Promise<Instance<Provider>> {
  const context: PluginContext = {
    name: plugin.name,
    log: silentLog,
    clock: systemClock,
    folder: ".",
    runs: () => {
      throw new Error("a provider starts no runs");
    },
    resolve: () => {
      throw new Error("there is no container here");
    },
    plugin: () => Promise.reject(new Error("a provider needs no other plugin")),
  };
  return plugin.create(plugin.options.parse(options), context);
}

const context = (): GenerationContext => ({
  run: "run_1",
  round: 1,
  attempt: 1,
  agent: "test",
  signal: new AbortController().signal,
  timeouts: { connect: 2_000, firstChunk: 5_000, idle: 5_000, total: 10_000 },
});

export async function streamed(port: Provider, request: GenerationRequest): Promise<Transcript> {
  const transcript = new Transcript();
  const deltas = port.stream?.(request, context()) ?? [];
  for await (const batch of deltas as AsyncIterable<readonly Delta[]>) transcript.push(batch); // an empty list if it cannot stream
  return transcript;
}

export const generated = (port: Provider, request: GenerationRequest) => port.generate?.(request, context());

export async function failure(act: () => Promise<unknown> | undefined): Promise<VenturiError> {
  try {
    await act();
  } catch (thrown) {
    return thrown as VenturiError; // the provider's contract; what is asserted of it fails for anything else
  }
  throw new Error("it did not fail");
}
