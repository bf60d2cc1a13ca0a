import { type Command, Option } from "commander";
import { isCode } from "../core/errors/codes.ts";
import { VenturiError } from "../core/errors/errors.ts";
import { loadConfig } from "../host/config/load.ts";
import { recordedOptionsOf } from "./globals.ts";

export interface ServiceOptions {
  readonly url?: string;
  readonly key?: string;
}

/** Options of commands that query the running service. */
export const addServiceOptions = (command: Command): Command =>
  command
    .option("--url <url>", "URL of the service (default: from the configuration)")
    .addOption(new Option("--key <key>", "API key of the service").env("VENTURI_KEY"));

export interface ServiceRequest extends ServiceOptions {
  readonly path: string;
  /** Default: GET, or POST with a body. */
  readonly method?: "DELETE";
  readonly body?: unknown;
}

/** The running service's response. Rejects with `unavailable` when none is running, else with the service's error. */
export async function askService<Answer>(command: Command, request: ServiceRequest): Promise<Answer> {
  const op = "cli.ask";
  const url = request.url ?? (await serviceUrl(command));
  let response: Response;
  try {
    response = await fetch(url + request.path, {
      method: request.method ?? (request.body === undefined ? "GET" : "POST"),
      headers: {
        ...(request.key === undefined ? {} : { authorization: `Bearer ${request.key}` }),
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
  } catch (cause) {
    throw new VenturiError(op, "unavailable", `no service answers at ${url}; is \`venturi start\` running?`, { cause });
  }
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: unknown; err?: string } }; // The service's error format.
  if (response.ok) return body as Answer;
  const { code, err } = body.error ?? {};
  throw new VenturiError(op, isCode(code) ? code : "unavailable", err ?? `the service answered ${response.status}`);
}

async function serviceUrl(command: Command): Promise<string> {
  const { server } = await loadConfig(recordedOptionsOf(command));
  const { host, port } = server.listen;
  // A service on the wildcard address is reachable through loopback.
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host;
  return `http://${reached}:${port}`;
}
