import type { CallContext } from "../../core/ports/tool.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { RunContext } from "../run/run-context.ts";

interface Call {
  readonly call: { readonly call: string };
  readonly round: number;
  readonly attempt: number;
  readonly controller: { readonly signal: AbortSignal };
}

/** A call copied by a fork keeps the original's key, so that its effect cannot happen twice. */
export const idempotencyKeyOf = ({ run, deps }: RunContext, call: string): string =>
  deps.request.fork?.keys?.[call] ?? `${run}:${call}`;

/** What tools and approval functions are told about the call. */
export function callContext(run: RunContext, { call, round, attempt, controller }: Call): CallContext {
  const { session, context, caller } = run.deps.request;
  return {
    run: run.run,
    round,
    call: call.call,
    agent: run.agent.name,
    tenant: run.deps.tenant ?? defaultTenant,
    attempt,
    idempotencyKey: idempotencyKeyOf(run, call.call),
    signal: controller.signal,
    context: run.context,
    stored: context,
    ...(run.state.skills === undefined ? {} : { skills: run.state.skills }),
    ...(session === undefined ? {} : { session }),
    ...(caller === undefined ? {} : { caller: caller.id }),
  };
}
