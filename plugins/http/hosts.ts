import { Egress, VenturiError } from "venturi/plugin";
import type { Operation } from "./operation.ts";
import type { HttpToolOptions } from "./options.ts";

/** The hosts of the config's list, or those that the operations name. */
export function egressOf(options: HttpToolOptions, operations: readonly Operation[]): Egress {
  const hosts = options.hosts ?? [...new Set(operations.map(hostOf))];
  return new Egress({ hosts, allowPrivate: options.allowPrivate, nameServers: options.nameServers });
}

/** The host an operation's address names. One that is filled in by the model needs a list in the config. */
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
