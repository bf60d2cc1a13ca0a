/** The public API for programs that embed agents. */

import "./host/refuse-old-node.ts"; // first: on an old Node the rest may not even load
import type { Telemetry } from "./core/telemetry.ts";
import { type Host, type OpenOptions, openHost } from "./host/open.ts";
import { Agent } from "./library/agent.ts";
import { defaultSettings, type TelemetryParts, type TelemetrySettings } from "./telemetry/settings.ts";

export { codes } from "./core/codes.ts";
export { VenturiError } from "./core/errors.ts";
export type { RunEvent, RunInput } from "./core/events.ts";
export type { RunRequest } from "./core/journal.ts";
export type { Message, Part } from "./core/messages.ts";
export type { Runs } from "./core/runs.ts";
export type { Telemetry } from "./core/telemetry.ts";
export * from "./library/agent.ts";
export * from "./library/chunk.ts";
export type { TelemetryParts, TelemetrySettings } from "./telemetry/settings.ts";

export interface Venturi extends Pick<Host, "runs" | "reload" | "close"> {
  agent(name: string): Agent;
}

/** Telemetry with custom span processors, to pass to `openVenturi`. Unset options have the config's defaults. */
export async function createTelemetry(settings: Partial<TelemetrySettings>, parts: TelemetryParts): Promise<Telemetry> {
  const { createTelemetry: create } = await import("./telemetry/index.ts");
  return create({ ...defaultSettings, ...settings }, parts);
}

/** Opens the config's plugins, journal and agents in this process, without a server. */
export async function openVenturi(options: OpenOptions): Promise<Venturi> {
  const host = await openHost(options);
  return {
    runs: host.runs,
    reload: host.reload,
    close: host.close,
    agent: (name) => new Agent(name, host.runs),
  };
}
