import type { RunRequest } from "../../core/journal.ts";
import type { Message } from "../../core/messages.ts";
import type { GenerationRequest } from "../../core/provider.ts";
import type { TokenCount } from "../../core/runs.ts";
import { type AgentDefinition, defaultTimeouts } from "../definition.ts";
import { instructionsFor } from "../inputs.ts";
import { ToolTable } from "../tools/tool-table.ts";
import { estimateMessage, estimateTokens } from "./estimate.ts";
import { fitTo } from "./fit.ts";
import { optionsFor } from "./options.ts";

/** How many tokens the first generation of such a run would read, as its vendor counts them or by an estimate. */
export async function countInput(agent: AgentDefinition, asked: RunRequest, signal: AbortSignal): Promise<TokenCount> {
  const [target] = agent.model.targets;
  const request = requestOf(agent, asked, target?.model ?? "");
  const count = target?.port.countTokens?.bind(target.port);
  if (count !== undefined && target !== undefined) {
    const context = { run: "", round: 0, attempt: 1, agent: agent.name, signal, timeouts: timeoutsOf(agent) };
    try {
      return { tokens: await count(fitTo(target.port, request).request, context), source: "reported" };
    } catch {
      // Gateways that speak a vendor's wire often lack this part of it; an estimate is better than no answer.
      signal.throwIfAborted();
    }
  }
  const tools = request.tools.length === 0 ? 0 : estimateTokens(JSON.stringify(request.tools));
  const tokens = request.messages.reduce((sum, message) => sum + estimateMessage(message), tools);
  return { tokens, source: "estimated" };
}

function requestOf(agent: AgentDefinition, asked: RunRequest, model: string): GenerationRequest {
  const instructions = instructionsFor(agent, asked.input);
  const system: Message[] =
    instructions === "" ? [] : [{ role: "system", parts: [{ type: "text", text: instructions }] }];
  const tools = new ToolTable(agent.tools(), asked.clientTools);
  return {
    model,
    messages: [...system, ...(asked.input.messages ?? [])],
    tools: tools.specs,
    options: optionsFor(agent, asked, tools),
    ...(asked.toolChoice === undefined ? {} : { toolChoice: asked.toolChoice }),
    ...(asked.nativeChoice === undefined ? {} : { nativeChoice: asked.nativeChoice }),
    ...(asked.output === undefined ? {} : { output: asked.output }),
    ...(asked.native === undefined ? {} : { native: asked.native }),
  };
}

/** Counting is quick; a caller waits for it. */
const timeoutsOf = ({ model }: AgentDefinition) => ({
  ...model.timeout,
  firstChunk: Math.min(model.timeout.firstChunk ?? Number.POSITIVE_INFINITY, defaultTimeouts.firstChunk),
  total: defaultTimeouts.firstChunk,
});
