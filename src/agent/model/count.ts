import type { Message } from "../../core/model/messages.ts";
import type { TokenCount } from "../../core/ports/runs.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { vendorNumber } from "../../core/values/vendor-number.ts";
import { type AgentDefinition, defaultTimeouts } from "../run/definition.ts";
import { firstRequest } from "./first-request.ts";
import { fitTo, grantsFor } from "./fit.ts";
import { estimateRequest } from "./token-room.ts";

export interface Around {
  readonly signal: AbortSignal;
  /** The session's conversation. */
  readonly session: readonly Message[];
}

/** Input tokens of such a run's first generation, counted by the vendor or estimated. */
export async function countInput(agent: AgentDefinition, asked: RunRequest, around: Around): Promise<TokenCount> {
  const { signal, session } = around;
  const [target] = agent.model.targets;
  const request = firstRequest(agent, asked, { model: target?.model ?? "", session });
  const count = target?.port.countTokens?.bind(target.port);
  if (count !== undefined && target !== undefined) {
    const context = { run: "", round: 0, attempt: 1, agent: agent.name, signal, timeouts: timeoutsOf(agent) };
    try {
      const fitted = fitTo(target.port, request, grantsFor(agent, asked)).request;
      const tokens = vendorNumber(await count(fitted, context));
      if (tokens !== undefined) return { tokens, source: "reported" };
    } catch {
      // Gateways that speak a vendor's wire often lack the counting endpoint; an estimate is better than an error.
      signal.throwIfAborted();
    }
  }
  return { tokens: estimateRequest(request), source: "estimated" };
}

/** Short timeouts: counting is quick and a caller is waiting. */
const timeoutsOf = ({ model }: AgentDefinition) => ({
  ...model.timeout,
  firstChunk: Math.min(model.timeout.firstChunk ?? Number.POSITIVE_INFINITY, defaultTimeouts.firstChunk),
  total: defaultTimeouts.firstChunk,
});
