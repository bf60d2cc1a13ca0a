/**
 * The public API for programs that embed agents. Loads no package: what runs agents is loaded by `openVenturi`, so that a module
 * which only defines agents and tools stays cheap to import.
 */

import "./host/system/refuse-old-node.ts"; // First: on an old Node the rest may not even load.
import type { Telemetry } from "./core/ports/telemetry.ts";
import type { App, Venturi } from "./library/venturi.ts";
import type { TelemetryParts, TelemetrySettings } from "./telemetry/base/settings.ts";

export { codes } from "./core/errors/codes.ts";
export { VenturiError } from "./core/errors/errors.ts";
export type { Message, Part } from "./core/model/messages.ts";
export type { Runs } from "./core/ports/runs.ts";
export type { Telemetry } from "./core/ports/telemetry.ts";
export type { RunInput } from "./core/run/event-fields.ts";
export type { RunEvent } from "./core/run/events.ts";
export type { RunRequest } from "./core/run/run-request.ts";
export {
  type Agent,
  type AgentCompaction,
  type AgentLike,
  type AgentLimits,
  type AgentOptions,
  type AgentSpec,
  type AgentToolPolicy,
  type AnyAgent,
  agent,
  type Named,
} from "./library/agent.ts";
export * from "./library/chunk.ts";
export { type Context, type ContextOf, type ContextOptions, context } from "./library/context.ts";
export type { RunEventOf, TypedEvent } from "./library/events.ts";
export type { CallOf, Calls, HookContext, Hooks } from "./library/hooks.ts";
export type { ExecuteOptions, ExecuteResult, Inputs, NamedAgent, PlanStep } from "./library/named-agent.ts";
export * from "./library/plugins.ts";
export type {
  Answer,
  Draft,
  ForkOptions,
  Input,
  Outcome,
  ResponseFormat,
  ResponseOptions,
  Result,
  Run,
  RunOptions,
  Verdict,
} from "./library/run.ts";
export { jsonSchema, type Schema } from "./library/schema.ts";
export { type CallContext, type Tool, type ToolContext, type ToolOptions, tool } from "./library/tool.ts";
export type { App, AppCaller, Mounted, Session, Venturi } from "./library/venturi.ts";
export type { TelemetryParts, TelemetrySettings } from "./telemetry/base/settings.ts";

/** Creates telemetry with custom span processors, for `openVenturi`. Unset options use the config's defaults. */
export async function createTelemetry(settings: Partial<TelemetrySettings>, parts: TelemetryParts): Promise<Telemetry> {
  const [{ createTelemetry: create }, { defaultSettings }] = await Promise.all([
    import("./telemetry/index.ts"),
    import("./telemetry/base/settings.ts"),
  ]);
  return create({ ...defaultSettings, ...settings }, parts);
}

/** Opens agents, tools, plugins and the journal in this process: those given here, those of a configuration file, or both. */
export async function openVenturi(app: App): Promise<Venturi> {
  const { open } = await import("./library/open.ts");
  return open(app);
}
