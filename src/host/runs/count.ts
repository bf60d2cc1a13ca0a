import { countInput } from "../../agent/model/count.ts";
import { checkCall, forCall } from "../../agent/run/for-call.ts";
import { checkInput } from "../../agent/run/inputs.ts";
import type { CountOptions, TokenCount } from "../../core/ports/runs.ts";
import { defaultTenant, type RunRequest } from "../../core/run/run-request.ts";
import type { Revisions } from "../revisions/revisions.ts";
import { agentNamed } from "./check-request.ts";
import type { Sessions } from "./sessions.ts";

/** Counts the tokens of a run without starting it, including its session's conversation. */
export async function countTokens(
  { revisions, sessions }: { readonly revisions: Revisions; readonly sessions: Sessions },
  request: RunRequest,
  { signal = new AbortController().signal, tenant = defaultTenant }: CountOptions,
): Promise<TokenCount> {
  const { session } = request;
  const agent = forCall(agentNamed(revisions.current.agents, request.agent), request);
  checkCall(agent, request);
  const asked = { ...request, input: checkInput(agent, request.input) };
  const lease = revisions.acquire();
  try {
    const { agents } = request.caller ?? {};
    const before = session === undefined ? [] : await sessions.before({ tenant, session, run: "", agents });
    return await countInput(agent, asked, { signal, session: before });
  } finally {
    lease.release();
  }
}
