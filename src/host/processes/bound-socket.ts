import { once } from "node:events";
import net, { type AddressInfo, createServer } from "node:net";
import type { Listen } from "../config/server.ts";
import { backlog, cannotListen, urlOf } from "./address.ts";
import type { SharedHandle } from "./link.ts";

/** The service's listening address, held open for the processes that accept from it. */
export interface BoundSocket {
  readonly url: string;
  /** Inherited by each process. */
  readonly fd: number;
  /** For a process that has closed its descriptor. */
  readonly handle: SharedHandle;
  close(): void;
}

/** Its descriptor number in a child: after the standard streams and the IPC channel. */
export const inheritedSocket = 4;

/**
 * Binds without accepting, as node:cluster does for shared handles. Processes that inherit the descriptor share one accept queue: an idle
 * process takes the next connection, and connections a dead process had not accepted go to another. (Passing accepted sockets instead takes
 * a round trip each through a busy event loop: 3 s for 200.)
 */
export async function bindSocket(listen: Listen): Promise<BoundSocket> {
  // An address in use is only detected when listening.
  const { url, address, port } = await probe(listen);
  const bound = createServerHandle(address, port, address.includes(":") ? 6 : 4);
  if (typeof bound === "number") throw cannotListen(listen, new Error(`the address cannot be bound (${bound})`));
  return { url, fd: bound.fd, handle: bound as unknown as SharedHandle, close: () => bound.close() }; // Node's own handles can be sent too.
}

async function probe(listen: Listen): Promise<AddressInfo & { readonly url: string }> {
  const server = createServer();
  server.listen({ host: listen.host, port: listen.port, backlog });
  try {
    await once(server, "listening");
  } catch (thrown) {
    throw cannotListen(listen, thrown);
  }
  const found = { ...(server.address() as AddressInfo), url: urlOf(listen.host, server) }; // A TCP server's address.
  server.close();
  await once(server, "close");
  return found;
}

interface Handle {
  readonly fd: number;
  close(): void;
}

/** Node exports this for its own cluster module, without types. A numeric result is an error code. */
const createServerHandle = (
  net as unknown as { _createServerHandle(address: string, port: number, family: 4 | 6): Handle | number }
)._createServerHandle;
