import { once } from "node:events";
import net, { type AddressInfo, createServer } from "node:net";
import type { Listen } from "../config/server.ts";
import { backlog, cannotListen, urlOf } from "./address.ts";

/** The address of the service, held open for the processes that accept from it. */
export interface BoundSocket {
  readonly url: string;
  /** To be inherited by each process. */
  readonly fd: number;
  close(): void;
}

/** Its number in a process that inherits it: after the standard streams and the IPC channel. */
export const inheritedSocket = 4;

/**
 * Binds without accepting, as node:cluster does for its shared handles. Processes that inherit the descriptor listen on one queue of
 * connections: whoever is idle takes the next, and what a dead process had not taken yet goes to another. (Handing over accepted
 * sockets instead takes a round trip each through the event loop of a busy process: 3 s for 200 of them.)
 */
export async function bindSocket(listen: Listen): Promise<BoundSocket> {
  // A taken address shows only when somebody listens.
  const { url, address, port } = await probe(listen);
  const bound = createServerHandle(address, port, address.includes(":") ? 6 : 4);
  if (typeof bound === "number") throw cannotListen(listen, new Error(`the address cannot be bound (${bound})`));
  return { url, fd: bound.fd, close: () => bound.close() };
}

async function probe(listen: Listen): Promise<AddressInfo & { readonly url: string }> {
  const server = createServer();
  server.listen({ host: listen.host, port: listen.port, backlog });
  try {
    await once(server, "listening");
  } catch (thrown) {
    throw cannotListen(listen, thrown);
  }
  const found = { ...(server.address() as AddressInfo), url: urlOf(listen.host, server) }; // a TCP server's address
  server.close();
  await once(server, "close");
  return found;
}

interface Handle {
  readonly fd: number;
  close(): void;
}

/** Exported by Node for its own cluster module, and not in its types. A number is an error. */
const createServerHandle = (
  net as unknown as { _createServerHandle(address: string, port: number, family: 4 | 6): Handle | number }
)._createServerHandle;
