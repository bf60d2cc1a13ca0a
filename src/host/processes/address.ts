import type { AddressInfo, Server } from "node:net";
import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Listen } from "../config/server.ts";

/** Listen backlog (the system may allow less): after a restart clients reconnect all at once. */
export const backlog = 4_096;

/** The URL of a server listening on this host. */
export function urlOf(host: string, server: Pick<Server, "address">): string {
  const { port } = server.address() as AddressInfo; // A TCP server's address.
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function cannotListen({ host, port }: Listen, thrown: unknown): VenturiError {
  const op = "server.listen";
  const taken = thrown instanceof Error && "code" in thrown && thrown.code === "EADDRINUSE";
  const message = taken
    ? `another program already listens on ${host}:${port}; choose another with --set server.listen=${host}:PORT`
    : `cannot listen: ${wrap(op, thrown).message}`;
  return new VenturiError(op, "unavailable", message, { cause: thrown });
}
