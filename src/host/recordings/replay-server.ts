import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import { encodeEvent } from "../../core/run/encode-event.ts";
import type { Recordings } from "./recordings.ts";

export interface ReplayServer {
  /** URL of its events. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a recorded run's events as the service would have, with their original timing; each connection starts from the
 * beginning.
 */
export async function serveReplay(
  recordings: Recordings,
  run: string,
  options: { readonly port: number; readonly speed: number },
): Promise<ReplayServer> {
  const path = `/v1/runs/${run}/events`;
  const server = createServer((request, response) => {
    if (request.url?.split("?")[0] !== path) {
      const error = new VenturiError("replay.serve", "not_found", `only ${path} is served here`);
      response.writeHead(error.status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return;
    }
    stream(recordings.replay(run, options.speed), request, response).catch((thrown) =>
      response.destroy(wrap("replay.serve", thrown)),
    );
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function stream(
  events: ReturnType<Recordings["replay"]>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const after = Number(request.headers["last-event-id"] ?? 0);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  for await (const event of events) {
    if (response.destroyed) return;
    if (event.seq <= after) continue;
    const frame = `id: ${event.seq}\nevent: ${event.type}\ndata: ${encodeEvent(event)}\n\n`;
    if (!response.write(frame)) await Promise.race([once(response, "drain"), once(response, "close")]);
  }
  response.end();
}
