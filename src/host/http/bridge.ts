import type { IncomingMessage, Server } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { Pipe } from "./pipe.ts";

// Not imported: a namespace import evaluates every export, one of which loads Node's fetch (30 ms per start).
const http = process.getBuiltinModule("node:http");

/** Headers of a connection, not of the message. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "proxy-connection",
  "te",
  "trailer",
]);

/**
 * Serves a web `Request` through a Node server that need not listen, over an in-process connection: status, headers, framing, backpressure
 * and disconnects behave as for any client.
 */
export function fetchFrom(server: Server, request: Request, path: string): Promise<Response> {
  const { method, headers, signal, body } = request;
  const { host } = new URL(request.url);
  const [client, connection] = Pipe.pair();
  return new Promise((resolve, reject) => {
    const sent = http.request({
      method,
      path,
      headers: { host, ...ownHeaders(headers) },
      createConnection: () => client as never, // Node's HTTP needs nothing of a socket that a Pipe lacks.
    });
    const leave = () => sent.destroy();
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave);
    sent.on("close", () => signal.removeEventListener("abort", leave));
    sent.on("response", (response) => resolve(responseOf(response)));
    sent.on("error", (thrown) => {
      const reason = signal.aborted ? signal.reason : wrap("server.fetch", thrown, "stream_error");
      reject(reason);
    });
    server.emit("connection", connection);
    if (body === null) sent.end();
    else {
      const source = Readable.fromWeb(body as ReadableStream); // The same class under two names.
      source.on("error", leave);
      source.pipe(sent);
    }
  });
}

function ownHeaders(headers: Headers): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of headers) if (!hopByHop.has(name)) own[name] = value;
  return own;
}

function responseOf(response: IncomingMessage): Response {
  const { statusCode = 500, rawHeaders } = response;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    if (!hopByHop.has(name)) headers.append(name, rawHeaders[at + 1] ?? "");
  }
  const empty = statusCode === 204 || statusCode === 304;
  if (empty) response.resume();
  return new Response(empty ? null : bodyOf(response), { status: statusCode, headers });
}

/** Pulls from the connection only as the reader asks. */
function bodyOf(response: IncomingMessage): globalThis.ReadableStream<Uint8Array> {
  const chunks = response[Symbol.asyncIterator]();
  return new globalThis.ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(new Uint8Array(value as Buffer)); // No encoding is set, so chunks are Buffers.
        } catch (thrown) {
          controller.error(
            new VenturiError("server.fetch", "stream_error", "the response broke off", { cause: thrown }),
          );
        }
      },
      cancel: () => void response.destroy(),
    },
    { highWaterMark: 0 },
  );
}
