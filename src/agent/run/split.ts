import { createHash } from "node:crypto";
import { defaultTenant, type RunRequest } from "../../core/run/run-request.ts";
import type { AgentDefinition, ModelChain } from "./definition.ts";

/** The fields of a run that decide which side of a split it gets. */
export interface SplitKey {
  readonly tenant?: string | undefined;
  readonly run: string;
  readonly request: Pick<RunRequest, "session" | "fork">;
}

/** Replaces each split by the model chosen for this run. */
export function withoutSplits(agent: AgentDefinition, key: SplitKey): AgentDefinition {
  const model = memberOf(agent.model, key);
  const { compaction } = agent;
  const summaries = compaction?.model && memberOf(compaction.model, key);
  if (model === agent.model && summaries === compaction?.model) return agent;
  return {
    ...agent,
    model,
    ...(compaction === undefined || summaries === undefined ? {} : { compaction: { ...compaction, model: summaries } }),
  };
}

/**
 * Rendezvous hashing over the session: all replicas choose the same model, restarts and reloads change nothing, and new weights move as few
 * sessions as possible. A run without a session counts as its own session; a fork follows its original.
 */
export function memberOf(chain: ModelChain, key: SplitKey): ModelChain {
  const { split, economy, name: of } = chain;
  if (split === undefined) {
    const saved = economy && memberOf(economy, key);
    return saved === economy ? chain : { ...chain, ...(saved === undefined ? {} : { economy: saved }) };
  }
  const { tenant = defaultTenant, run, request } = key;
  const who = request.session ?? request.fork?.run ?? run;
  const all = split.reduce((sum, { weight }) => sum + weight, 0);
  const [first] = split
    .map((member) => {
      const digest = createHash("sha256")
        .update(JSON.stringify(["split", of, tenant, who, member.name]))
        .digest();
      const drawn = (digest.readUInt32BE(0) + 1) / (2 ** 32 + 1);
      return { ...member, rank: -Math.log(drawn) / member.weight };
    })
    .sort((left, right) => left.rank - right.rank);
  if (first === undefined) return chain;
  const by = request.session === undefined ? "the run" : "the session";
  const reason = `split: ${first.name} has ${first.weight} of ${all} in ${of}, drawn by ${by}`;
  return { ...memberOf(first.chain, key), chosen: { of, member: first.name, reason } };
}
