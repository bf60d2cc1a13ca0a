import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../plugins/simulator/server.ts";
import type { WireName } from "../plugins/simulator/wire.ts";
import { silentLog } from "../src/core/ports/log.ts";
import { openService, type Service } from "../src/host/service.ts";

/** A real service between a client and a vendor on loopback, whose requests can be looked at. */
export interface Bridge {
  readonly url: string;
  readonly service: Service;
  readonly vendor: Simulator;
  readonly folder: string;
  /** The bodies that reached the vendor, oldest first. */
  bodies(): Record<string, unknown>[];
  close(): Promise<void>;
}

export interface BridgeOptions {
  /** Further lines of the configuration. */
  readonly yaml?: string;
  /** Further options of the provider, as YAML in one line: `cache: off, beta: [x]`. */
  readonly provider?: string;
  readonly model?: string;
}

/** The agents `m` (without instructions or tools) and whatever `yaml` adds; every channel is open. */
export async function bridge(wire: WireName, options: BridgeOptions = {}): Promise<Bridge> {
  const vendor = await startSimulator({ keep: 1_000 });
  const folder = await mkdtemp(join(tmpdir(), "venturi-bridge-"));
  const configFile = join(folder, "venturi.yaml");
  const more = options.provider === undefined ? "" : `, ${options.provider}`;
  await writeFile(
    configFile,
    `version: 1
providers: { vendor: { type: ${wire}, baseUrl: "${vendor.url}${bases[wire]}", apiKey: test${more} } }
agents: { m: { model: ${options.model ?? "vendor/small"} } }
server: { listen: "127.0.0.1:0" }
channels: { http: {}, openai: {}, anthropic: {}, ai-sdk: {}, ag-ui: {}, websocket: {} }
journal: { type: sqlite, path: ./journal.db }
telemetry: off
${options.yaml ?? ""}`,
  );
  const service = await openService({ configFile, env: {}, log: silentLog });
  return {
    url: service.url,
    service,
    vendor,
    folder,
    bodies: () => vendor.requests.map(({ body }) => body as Record<string, unknown>), // our own requests are objects
    async close() {
      await service.drain();
      await vendor.close();
      await rm(folder, { recursive: true });
    },
  };
}

const bases: Readonly<Record<WireName, string>> = {
  openai: "/v1",
  "openai-responses": "/v1",
  anthropic: "",
  gemini: "/v1beta",
  ollama: "",
};
