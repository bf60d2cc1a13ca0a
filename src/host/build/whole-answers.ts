import type { ModelChain } from "../../agent/run/definition.ts";
import { type Provider, withoutGenerations } from "../../core/model/provider.ts";

/**
 * The chain asking for complete answers where its providers support that: one read and one event per generation instead of one per token.
 * The first byte then arrives with the last, so only the total timeout applies.
 */
export function wholeAnswers(chain: ModelChain): ModelChain {
  const { targets, timeout, split } = chain;
  return {
    ...chain,
    targets: targets.map((target) => ({ ...target, port: whole(target.port) })),
    timeout: { ...timeout, idle: Math.max(timeout.idle, timeout.total) },
    ...(split === undefined
      ? {}
      : { split: split.map((member) => ({ ...member, chain: wholeAnswers(member.chain) })) }),
  };
}

function whole(port: Provider): Provider {
  const generate = port.generate?.bind(port);
  if (generate === undefined) return port;
  const { capabilities, ...rest } = withoutGenerations(port);
  return { ...rest, capabilities: { ...capabilities, streaming: false }, generate };
}
