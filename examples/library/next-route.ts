// app/chat/route.ts and app/ai/[...path]/route.ts of a Next.js application, in one file.
// In next.config: `serverExternalPackages: ["venturi"]`; the runtime is nodejs, not edge.
import { openShop, support } from "./shop.ts";
import { serve } from "./web-server.ts";

export const runtime = "nodejs";

export async function POST(request: Request): Promise<Response> {
  const venturi = await openShop(); // shared: opened once per process, and again after a hot reload with the new agents
  const user = request.headers.get("x-user") ?? "guest";
  const run = await venturi.start(support, await request.text(), { context: { userId: user } });
  return run.response({ as: "text", request });
}

/** `export const { GET, POST } = service` in app/ai/[...path]/route.ts. */
const mounted = async (request: Request): Promise<Response> => (await openShop()).at("/ai").fetch(request);
export const service = { GET: mounted, POST: mounted, DELETE: mounted };

// What Next.js does with the two files.
serve((request) => (new URL(request.url).pathname === "/chat" ? POST(request) : service.POST(request)));
process.on("SIGTERM", async () => (await openShop()).close().then(() => process.exit(0)));
