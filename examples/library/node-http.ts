// node:http: a route of its own, and the whole service below /ai.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import { openShop, support } from "./shop.ts";

const venturi = await openShop();
const ai = venturi.at("/ai");

const server = createServer(async (request, response) => {
  if (request.url?.startsWith("/ai/")) return ai.node(request, response);
  const user = request.headers["x-user"];
  if (request.url !== "/chat" || typeof user !== "string") return void response.writeHead(404).end();
  const run = await venturi.start(support, await text(request), { context: { userId: user } });
  const answer = run.response({ as: "text" });
  response.writeHead(200, Object.fromEntries(answer.headers));
  Readable.fromWeb(answer.body as ReadableStream).pipe(response);
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(JSON.stringify(server.address())));
process.on("SIGTERM", () => venturi.close().then(() => process.exit(0)));
