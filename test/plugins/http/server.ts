import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A real server on loopback that tells what it was asked, and misbehaves by path. */
export async function startServer() {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const entry = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(entry);
    answer(entry, request, response);
  });
  let closedEarly = 0;
  server.on("connection", (socket) => socket.on("close", () => closedEarly++));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen,
    closed: () => closedEarly,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(entry: Seen, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(entry.url, "http://x");
  const json = (value: unknown, status = 200) =>
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value));
  if (url.pathname === "/redirect") {
    response.writeHead(302, { location: url.searchParams.get("to") ?? "/" }).end();
  } else if (url.pathname === "/loop") response.writeHead(302, { location: "/loop" }).end();
  else if (url.pathname === "/echo-secret") json({ authorization: entry.headers.authorization, url: entry.url });
  else if (url.pathname === "/fail-secret") json({ message: `bad key ${entry.headers.authorization}` }, 401);
  else if (url.pathname === "/missing") response.writeHead(404, { "retry-after": "7" }).end("no such thing");
  else if (url.pathname === "/large")
    response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(100_000));
  else if (url.pathname === "/bomb") {
    response
      .writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" })
      .end(gzipSync("0".repeat(20_000_000)));
  } else if (url.pathname === "/image") {
    response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([137, 80, 78, 71, 0]));
  } else if (url.pathname === "/binary") response.writeHead(200).end(Buffer.from([0, 1, 2]));
  else if (url.pathname === "/hang") request.socket.on("error", () => {});
  else if (url.pathname === "/drip") {
    response.writeHead(200, { "content-type": "text/plain" });
    response.write("first");
  } else
    json({ method: entry.method, path: url.pathname, query: Object.fromEntries(url.searchParams), body: entry.body });
}
