import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A loopback port that was free a moment ago. Below those that the system gives to outgoing connections: one of these could
 * take it while its owner is being started again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    const server = createServer();
    try {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    } catch {
      continue; // someone has it
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
