import { VenturiError } from "../../core/errors/errors.ts";
import { generationOptions } from "../../core/model/generation-options.ts";
import { CallOptions } from "../../core/run/call-settings.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { lackOf, type Needs } from "./capabilities.ts";
import type { AgentDefinition, ModelChain } from "./definition.ts";
import { lowerLimits } from "./request-limits.ts";

const op = "run.start";

/** The agent specialised for one call: its limits, the selected model, and the models of the chain that are capable of it. */
export function forCall(agent: AgentDefinition, request: RunRequest): AgentDefinition {
  const model = modelFor(agent, request);
  const needs = needsOf(agent, request);
  const fitting = capable(model, needs);
  if (fitting === agent.model && request.limits === undefined) return agent;
  return { ...agent, model: fitting, limits: lowerLimits(agent.limits, request.limits) };
}

function capable(model: ModelChain, needs: Needs): ModelChain {
  const able = model.targets.filter(({ port, name }) => lackOf(port, name, needs) === undefined);
  // With none capable, the check before the start reports what the first one lacks.
  if (able.length === 0 || able.length === model.targets.length) return model;
  const split = model.split?.map((member) => ({ ...member, chain: capable(member.chain, needs) }));
  return { ...model, targets: able, ...(split === undefined ? {} : { split }) };
}

/** Capabilities this call requires of a model. */
export function needsOf(agent: AgentDefinition, request: RunRequest): Needs {
  const tools = agent.tools().length > 0 || (request.clientTools?.length ?? 0) > 0;
  const { messages } = request.input;
  if (messages === undefined) return { tools, vision: false, files: [] };
  const parts = messages.flatMap((message) => message.parts);
  const vision = parts.some((part) => part.type === "image");
  const files = [...new Set(parts.flatMap((part) => (part.type === "file" ? [part.mediaType] : [])))];
  return { tools, vision, files };
}

/** Rejects, before a run starts, overrides that the agent does not allow. */
export function checkCall(agent: AgentDefinition, request: RunRequest): void {
  checkOptions(agent, request);
  const clientTools = (request.clientTools ?? []).map(({ name }) => name);
  const twice = clientTools.find((name, index) => clientTools.indexOf(name) !== index);
  if (twice !== undefined) throw new VenturiError(op, "invalid_input", `tools: "${twice}" is listed twice`);
  if (request.toolChoice !== undefined) {
    checkChoice(request, [...agent.tools().map(({ name }) => name), ...clientTools]);
  }
}

function modelFor(agent: AgentDefinition, { model, shadow, fork }: RunRequest): ModelChain {
  const chosen = chosenModel(agent, model);
  if (shadow === undefined || fork === undefined) return chosen;
  const live = [chosen, ...(chosen.split ?? []).map(({ chain }) => chain)].find(({ name }) => name === shadow);
  if (live?.shadow !== undefined) return live.shadow.model;
  throw new VenturiError(op, "not_found", `the model ${shadow} has no shadow any more`);
}

/** The model chain a call selects, or the agent's own. */
function chosenModel(agent: AgentDefinition, wanted: string | undefined): ModelChain {
  if (wanted === undefined || wanted === agent.model.name) return agent.model;
  const chosen = agent.overrides.models.get(wanted);
  if (chosen !== undefined) return chosen;
  const allowed = [agent.model.name, ...agent.overrides.models.keys()].join(", ");
  const message = `${agent.name} does not let a call choose the model "${wanted}"; it allows: ${allowed}`;
  throw new VenturiError(op, "forbidden", message, { details: { model: wanted } });
}

/** Other keys go into the vendor's request unchanged and could replace anything, so only those the agent lists are allowed. */
function checkOptions(agent: AgentDefinition, { options }: RunRequest): void {
  if (options === undefined) return;
  const parsed = CallOptions.safeParse(options);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new VenturiError(
      op,
      "invalid_input",
      `options.${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`,
    );
  }
  const opened = [...agent.overrides.options].filter((key) => !counted.has(key.toLowerCase()));
  const allowed = [...Object.keys(generationOptions), ...opened];
  const unknown = Object.keys(options).find((key) => !allowed.includes(key));
  if (unknown === undefined) return;
  const message = `options.${unknown}: ${agent.name} does not let a call set it; it allows: ${allowed.join(", ")}`;
  throw new VenturiError(op, "invalid_input", message, { details: { option: unknown } });
}

/** Keys that decide how much is used and whether usage is reported, on any wire. No agent can allow them. */
const counted: ReadonlySet<string> = new Set([
  "background",
  "max_completion_tokens",
  "max_output_tokens",
  "max_tokens",
  "model",
  "n",
  "stream",
  "stream_options",
  "usage",
]);

function checkChoice({ toolChoice }: RunRequest, offered: readonly string[]): void {
  if (toolChoice === undefined || toolChoice === "auto" || toolChoice === "none") return;
  const known = toolChoice === "required" ? offered.length > 0 : offered.includes(toolChoice.name);
  if (known) return;
  const asked = toolChoice === "required" ? "a tool" : `the tool "${toolChoice.name}"`;
  const message = `toolChoice: ${asked} has to be called, and the tools are: ${offered.join(", ") || "none"}`;
  throw new VenturiError(op, "invalid_input", message);
}
