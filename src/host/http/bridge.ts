import type { IncomingMessage, Server } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { Pipe } from "./pipe.ts";

// Not imported: a namespace reads every export, and one of them loads Node's fetch, 30 ms of each start.
const http = process.getBuiltinModule("node:http");

/** Of one connection, not of the message. */
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
 * A web request through a Node server that need not listen: over a connection within the process, so that status, headers,
 * framing, backpressure and a reader that leaves are those of any other client.
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
      createConnection: () => client as never, // Node's HTTP asks a socket for no more than a Pipe has
    });
    const leave = () => sent.destroy();
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    sent.on("close", () => signal.removeEventListener("abort", leave));
    sent.on("response", (response) => resolve(responseOf(response)));
    sent.on("error", (thrown) => {
      const reason = signal.aborted ? signal.reason : wrap("server.fetch", thrown, "stream_error");
      reject(reason);
    });
    server.emit("connection", connection);
    if (body === null) sent.end();
    else {
      const source = Readable.fromWeb(body as ReadableStream); // the same class under two names
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

/** Reads as the reader does: nothing is taken from the connection before it is asked for. */
function bodyOf(response: IncomingMessage): globalThis.ReadableStream<Uint8Array> {
  const chunks = response[Symbol.asyncIterator]();
  return new globalThis.ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(new Uint8Array(value as Buffer)); // no encoding is set, so chunks are buffers
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
