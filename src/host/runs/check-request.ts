import { checkCapabilities } from "../../agent/run/capabilities.ts";
import type { AgentDefinition } from "../../agent/run/definition.ts";
import { checkCall, forCall, needsOf } from "../../agent/run/for-call.ts";
import { checkInput } from "../../agent/run/inputs.ts";
import { checkContext } from "../../agent/run/live-context.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { checkBounds } from "./request-bounds.ts";

type Agents = ReadonlyMap<string, AgentDefinition>;

interface CheckOptions {
  /** Maximum characters of a run's metadata. */
  readonly metadata: number;
  /** The caller's context, for an agent that takes one. */
  readonly context?: unknown;
}

export interface CheckedRequest {
  readonly agent: AgentDefinition;
  readonly input: RunInput;
  readonly context: unknown;
}

/** Refuses, before anything is stored, what this configuration cannot run. */
export function checkRequest(agents: Agents, request: RunRequest, options: CheckOptions): CheckedRequest {
  checkBounds(request, { metadata: options.metadata });
  const agent = forCall(agentNamed(agents, request.agent), request);
  checkCall(agent, request);
  const input = request.remember ? request.input : checkInput(agent, request.input);
  const context = request.context ?? (agent.context === undefined ? undefined : options.context);
  checkContext(agent, context);
  if (request.remember) return { agent, input, context };
  const needs = needsOf(agent, request);
  for (const target of agent.model.targets) checkCapabilities(target.port, target.name, needs);
  return { agent, input, context };
}

/** The agent with this name or alias. */
export function agentNamed(agents: Agents, name: string): AgentDefinition {
  const agent = agents.get(name) ?? [...agents.values()].find(({ aliases }) => aliases.includes(name));
  if (agent !== undefined) return agent;
  const known = [...agents.keys()].join(", ") || "none";
  throw new VenturiError("run.start", "not_found", `there is no agent "${name}"; the agents are: ${known}`);
}
