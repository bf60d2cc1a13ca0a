import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

/** Serves a web-standard handler on loopback. */
export async function serveFetch(handle: (request: Request) => Promise<Response>, port = 0) {
  const server = createServer(async (incoming, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const gone = new AbortController();
    reply.on("close", () => gone.abort());
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      signal: gone.signal,
    });
    try {
      const response = await handle(request);
      reply.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body === null) reply.end();
      else
        Readable.fromWeb(response.body as never)
          .on("error", () => reply.destroy())
          .pipe(reply);
    } catch {
      reply.destroy();
    }
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    drop: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
