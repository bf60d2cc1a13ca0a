// A web handler on node:http, for the examples whose framework brings its own server elsewhere.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

export function serve(handle: (request: Request) => Response | Promise<Response>): void {
  const server = createServer(async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on("close", () => left.abort());
    const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value]] : [],
      ) as [string, string][],
      signal: left.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming) as never, duplex: "half" } : {}),
    });
    const response = await handle(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    else
      Readable.fromWeb(response.body as ReadableStream)
        .on("error", () => outgoing.destroy())
        .pipe(outgoing);
  });
  server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(JSON.stringify(server.address())));
}
