/**
 * The public API for programs that embed agents. Loads no package: what runs agents is loaded by `openVenturi`, so that a module
 * which only defines agents and tools stays cheap to import.
 */

import "./host/refuse-old-node.ts"; // first: on an old Node the rest may not even load
import type { Telemetry } from "./core/telemetry.ts";
import type { Host, OpenOptions } from "./host/open.ts";
import type { NamedAgent } from "./library/named-agent.ts";
import type { TelemetryParts, TelemetrySettings } from "./telemetry/settings.ts";

export { codes } from "./core/codes.ts";
export { VenturiError } from "./core/errors.ts";
export type { RunEvent, RunInput } from "./core/events.ts";
export type { RunRequest } from "./core/journal.ts";
export type { Message, Part } from "./core/messages.ts";
export type { Runs } from "./core/runs.ts";
export type { Telemetry } from "./core/telemetry.ts";
export * from "./library/chunk.ts";
export type { ExecuteOptions, ExecuteResult, Inputs, NamedAgent, PlanStep } from "./library/named-agent.ts";
export type { TelemetryParts, TelemetrySettings } from "./telemetry/settings.ts";

export interface Venturi extends Pick<Host, "runs" | "reload" | "close"> {
  agent(name: string): NamedAgent;
}

/** Telemetry with custom span processors, to pass to `openVenturi`. Unset options have the config's defaults. */
export async function createTelemetry(settings: Partial<TelemetrySettings>, parts: TelemetryParts): Promise<Telemetry> {
  const [{ createTelemetry: create }, { defaultSettings }] = await Promise.all([
    import("./telemetry/index.ts"),
    import("./telemetry/settings.ts"),
  ]);
  return create({ ...defaultSettings, ...settings }, parts);
}

/** Opens the config's plugins, journal and agents in this process, without a server. */
export async function openVenturi(options: OpenOptions): Promise<Venturi> {
  const { open } = await import("./library/open.ts");
  return open(options);
}
