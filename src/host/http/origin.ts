import type { IncomingHttpHeaders } from "node:http";
import { VenturiError } from "../../core/errors/errors.ts";
import { isLoopback, type ServerSettings } from "../config/server.ts";

const op = "server.admit";
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Rejects cross-site requests: a Host this service does not serve (DNS rebinding), or an Origin that is neither this service
 * nor listed in the config.
 */
export function originCheck(settings: ServerSettings): (headers: IncomingHttpHeaders, raw: readonly string[]) => void {
  const names = settings.hosts ?? (isLoopback(settings.listen.host) ? [...loopback, settings.listen.host] : undefined);
  const hosts = names === undefined ? undefined : new Set(names.map((name) => name.toLowerCase()));
  const origins = new Set(settings.cors?.origins);
  return (headers, raw) => {
    // Node keeps the first Host header, but a proxy in front may have checked the second.
    if (raw.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length > 1) {
      throw new VenturiError(op, "invalid_input", "send one Host header");
    }
    const host = headers.host?.toLowerCase();
    if (host === undefined) throw new VenturiError(op, "invalid_input", "a Host header is needed");
    if (hosts !== undefined && !hosts.has(host) && !hosts.has(host.replace(/:\d+$/, ""))) {
      throw new VenturiError(op, "forbidden", "this service does not answer to that Host; list it under server.hosts");
    }
    const { origin } = headers;
    if (origin === undefined || origins.has(origin) || origins.has("*")) return;
    if (hostOf(origin) === host) return;
    throw new VenturiError(op, "forbidden", "this Origin is not allowed; list it under server.cors.origins");
  };
}

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined;
