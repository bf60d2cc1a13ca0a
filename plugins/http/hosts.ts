import { Egress } from "venturi/internal";
import { VenturiError } from "venturi/plugin";
import type { Operation } from "./operation.ts";
import type { HttpToolOptions } from "./options.ts";

/** The config's host list, or the hosts named by the operations. */
export function egressOf(options: HttpToolOptions, operations: readonly Operation[]): Egress {
  const hosts = options.hosts ?? [...new Set(operations.map(hostOf))];
  return new Egress({ hosts, allowPrivate: options.allowPrivate, nameServers: options.nameServers });
}

/** The host in an operation's URL. A host filled in by the model requires a list in the config. */
function hostOf(operation: Operation): string {
  const authority = /^https?:\/\/([^/?#]*)/.exec(operation.address)?.[1] ?? "";
  if (authority.includes("{")) {
    throw new VenturiError(
      "tool.create",
      "config_invalid",
      `the operation "${operation.name}" has a parameter in its host; list the hosts it may ask under hosts:`,
    );
  }
  return new URL(operation.address.replaceAll(/[{}]/g, "")).host;
}
