import type { GenerationRequest } from "../../core/model/provider.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { ModelTarget } from "../run/definition.ts";
import type { RunContext } from "../run/run-context.ts";
import type { Asked } from "./hedge.ts";
import { reserve } from "./meter.ts";
import { unfit, withinMember } from "./route.ts";
import { estimateRequest } from "./token-room.ts";

interface Race {
  requestFor(target: ModelTarget): Promise<GenerationRequest>;
  readonly first: Asked;
  readonly others: readonly ModelTarget[];
}

/** The first other model that can take the request right now. Never waits: the first model is still working. */
export async function rivalFor(run: RunContext, { requestFor, first, others }: Race): Promise<Asked | undefined> {
  const { members, breakers, tenant = defaultTenant, meter } = run.deps;
  for (const target of others) {
    const member = members?.of(target.name);
    const request = await requestFor(target).catch(() => undefined);
    if (request === undefined) continue;
    const tokens = estimateRequest(request);
    if (unfit(target, tokens) !== undefined) continue;
    if (target.member !== undefined && member?.hasRoom(target.member, tokens) === false) continue;
    const breaker = breakers.of(target, { tenant, run: run.run });
    if (breaker.state !== "closed" || !breaker.admit()) continue;
    const asked = { target, request: withinMember(request, target, tokens) };
    if (meter !== undefined && !(await hasBudget(run, asked, first))) {
      breaker.abandoned();
      return undefined;
    }
    return { ...asked, attempt: first.attempt + 1, breaker, seat: member?.take(tokens) };
  }
  return undefined;
}

/** Reserves budget for both models; without room, restores the reservation of the first. */
async function hasBudget(run: RunContext, asked: Pick<Asked, "target" | "request">, first: Asked): Promise<boolean> {
  try {
    await reserve(run, asked, first);
    return true;
  } catch {
    await reserve(run, first).catch(() => {}); // The first request is under way regardless; its cost is settled at its end.
    return false;
  }
}
