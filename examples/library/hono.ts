// Hono: web requests and responses on both sides. Served here by a few lines of node:http; @hono/node-server does the same.
import { Hono } from "hono";
import { openShop, support } from "./shop.ts";
import { serve } from "./web-server.ts";

const venturi = await openShop();
const app = new Hono();

app.mount("/ai", venturi.fetch);
app.post("/chat", async (c) => {
  const run = await venturi.start(support, await c.req.text(), {
    context: { userId: c.req.header("x-user") ?? "guest" },
  });
  return run.response({ as: "text" });
});

serve((request) => app.fetch(request));
process.on("SIGTERM", () => venturi.close().then(() => process.exit(0)));
