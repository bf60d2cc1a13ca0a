import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { openService } from "../../src/host/service.ts";
import { Loopback } from "../provider/loopback.ts";

export interface Gateway {
  readonly url: string;
  /** What arrived at the vendor, oldest first. */
  bodies(): Record<string, unknown>[];
  readonly vendor: Loopback;
  /** What the vendor answers from now on. */
  answer(how: Answer): void;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** A body of server-sent events, or whatever a test writes itself. */
export type Answer = string | ((response: ServerResponse, request: IncomingMessage) => void);

/** Of an agent whose callers may set everything that can be opened to them. */
export const opened = ", overrides: { native: all, vendorTools: all }";

/** A service between a client and a vendor on loopback; the agent is called `agent` and has nothing of its own. */
export async function gateway(options: {
  /** The provider's plugin, and its options beyond the address. */
  provider: string;
  settings?: string;
  channels?: string;
  agent?: string;
  /** The whole section, in place of the one agent. */
  agents?: string;
  /** Further settings of the server. */
  server?: string;
  /** Further sections of the configuration. */
  more?: string;
  answer: Answer;
  /** Measure as the configuration says; otherwise nothing is. */
  measured?: boolean;
}): Promise<Gateway> {
  let answer = options.answer;
  const vendor = await Loopback.start((response, request) => {
    if (typeof answer === "function") answer(response, request);
    else response.writeHead(200, { "content-type": "text/event-stream" }).end(answer);
  });
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  const configFile = join(folder, "venturi.yaml");
  await writeFile(
    configFile,
    `version: 1
providers: { up: { type: ${options.provider}, apiKey: key-1234, baseUrl: "${vendor.url}"${options.settings ?? ""} } }
${options.agents ?? `agents: { agent: { model: up/m${options.agent ?? ""} } }`}
journal: { type: memory }
channels: { http: {}, openai: {}, anthropic: {}${options.channels ?? ""} }
server: { listen: 0${options.server ?? ""} }
telemetry: { logs: { level: silent } }
${options.more ?? ""}
`,
  );
  const service = await openService({
    configFile,
    log: silentLog,
    ...(options.measured ? {} : { telemetry: noTelemetry }),
  });
  return {
    url: service.url,
    vendor,
    bodies: () => vendor.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>), // our own requests
    answer: (how) => {
      answer = how;
    },
    post: (path, body, headers = {}) =>
      fetch(service.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    close: async () => {
      await service.drain();
      await vendor.stop();
      await rm(folder, { recursive: true });
    },
  };
}
