// Express: mounted before anything that parses bodies.
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import express from "express";
import { openShop, support } from "./shop.ts";

const venturi = await openShop();
const app = express();

app.use("/ai", venturi.node);
app.post("/chat", express.text({ type: "*/*" }), async (request, response) => {
  const run = await venturi.start(support, request.body, { context: { userId: request.get("x-user") ?? "guest" } });
  const answer = run.response({ as: "text" });
  response.set(Object.fromEntries(answer.headers));
  Readable.fromWeb(answer.body as ReadableStream).pipe(response);
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () =>
  console.log(JSON.stringify(server.address())),
);
process.on("SIGTERM", () => venturi.close().then(() => process.exit(0)));
