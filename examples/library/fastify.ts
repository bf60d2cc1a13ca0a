// Fastify: a web response can be sent as it is; the service is mounted where bodies are left unread.
import { fastify } from "fastify";
import { openShop, support } from "./shop.ts";

const venturi = await openShop();
const app = fastify();

app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
  scope.all("/ai/*", (request, reply) => {
    reply.hijack();
    venturi.at("/ai").node(request.raw, reply.raw);
  });
});
app.post<{ Body: string }>("/chat", async (request, reply) => {
  const user = String(request.headers["x-user"] ?? "guest");
  const run = await venturi.start(support, request.body, { context: { userId: user } });
  return reply.send(run.response({ as: "text" }));
});

await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" });
console.log(JSON.stringify(app.server.address()));
process.on("SIGTERM", () => venturi.close().then(() => process.exit(0)));
