import { VenturiError } from "venturi/plugin";
import type { HttpToolOptions } from "./index.ts";
import type { Operation } from "./operation.ts";

export interface HostRules {
  /** Throws `tool_denied` unless the address is one that may be asked. */
  check(url: URL): void;
  /** Whether the config lets this host and port be at a private address. */
  mayBePrivate(url: URL): boolean;
}

export function hostRules(options: HttpToolOptions, operations: readonly Operation[]): HostRules {
  const hosts = options.hosts ?? [...new Set(operations.map(hostOf))];
  return {
    check(url) {
      if (url.protocol !== "http:" && url.protocol !== "https:")
        throw denied(`${url.protocol} is no protocol for this tool`);
      if (url.username !== "" || url.password !== "") throw denied("an address with a user name in it is refused");
      if (!hosts.some((host) => fits(host, url))) throw denied(`the host ${url.host} is not on the list`);
    },
    mayBePrivate: (url) => options.allowPrivate.some((host) => host === `${url.hostname}:${portOf(url)}`),
  };
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

function fits(rule: string, url: URL): boolean {
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(rule.toLowerCase()) ?? [];
  if (port === undefined ? url.port !== "" : port !== portOf(url)) return false;
  if (name.startsWith("*.")) return url.hostname.endsWith(name.slice(1)) && url.hostname.length > name.length - 1;
  return url.hostname === name;
}

const portOf = (url: URL): string => url.port || (url.protocol === "https:" ? "443" : "80");

const denied = (message: string) => new VenturiError("tool.call", "tool_denied", message);
