import type { AuditEntry } from "../../core/journal/audit.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { CallerAccess } from "./caller-access.ts";
import type { KeyHolder } from "./key-holder.ts";

interface PauseDeps {
  readonly runs: Runs;
  readonly caller: KeyHolder;
  readonly access: CallerAccess;
  audit(entry: AuditEntry): Promise<void>;
}

/** Pauses or resumes an agent for a caller and writes an audit entry. */
export async function pauseFor(
  { runs, caller, access, audit }: PauseDeps,
  called: string,
  pause: { readonly reason?: string } | undefined,
): Promise<boolean> {
  const { id: by, tenant } = caller;
  const agent = access.mayPause(called);
  const changed = pause === undefined ? runs.resumeAgent?.(agent) : runs.pauseAgent?.(agent, { ...pause, by });
  if (!(await changed)) return false;
  const action = pause === undefined ? "agent.resumed" : "agent.paused";
  await audit({ action, by, tenant, details: { agent, ...pause } });
  return true;
}
