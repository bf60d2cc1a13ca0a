import type { AuditEntry } from "../../core/audit.ts";
import { VenturiError } from "../../core/errors.ts";
import type { ListQuery } from "../../core/list-query.ts";
import type { RunRequest } from "../../core/run-request.ts";
import type { RunRow } from "../../core/run-row.ts";
import type { Runs } from "../../core/runs.ts";
import type { Scope } from "../../core/scopes.ts";
import { demand, permit } from "../http/auth.ts";
import type { KeyHolder } from "../http/key-holder.ts";
import type { Admission } from "./admission.ts";

/** Runs remembered as started by one socket. */
const mostStarted = 10_000;

/**
 * Runs restricted to one caller: those of its tenant and permitted agents. Any other run appears not to exist, so that its
 * existence does not leak. `charge` counts a start against the caller's rate and rejects with `rate_limited`.
 */
export function callerRuns(
  runs: Runs,
  caller: KeyHolder,
  admit: { admission: Admission; charge(): Promise<void>; audit(entry: AuditEntry): Promise<void> },
): Runs {
  /** Already checked: saves a second lookup when a run just started or read is followed. */
  const checked = new Set<string>();
  /** Started by this request or socket, which may read and cancel them whatever its key's scopes. */
  const mine = new Set<string>();
  const own = async (run: string, scope: Scope): Promise<RunRow> => {
    if (!mine.has(run)) demand(caller, scope);
    const row = await runs.get(run);
    const visible = row.tenant === caller.tenant || (scope === "see" && caller.tenants === "all");
    if (visible && (caller.agents?.includes(row.agent) ?? true)) return row;
    throw noRun(run);
  };
  const { id, tenant, concurrentRuns, context, metadata } = caller;
  const by = { id, ...(concurrentRuns === undefined ? {} : { concurrentRuns }) };
  /** Under the caller's rate and the service's limits. */
  const admitted = async <Started extends { run: string; existing?: boolean }>(
    begin: () => Promise<Started>,
  ): Promise<Started> => {
    await admit.charge();
    const place = await admit.admission.reserve(caller);
    try {
      const started = await begin();
      if (started.existing) await own(started.run, "start");
      checked.add(started.run);
      if (mine.size < mostStarted) mine.add(started.run);
      place.bind(started.run);
      return started;
    } catch (thrown) {
      place.release();
      throw thrown;
    }
  };
  return {
    async start(request, options = {}) {
      demand(caller, "start");
      permit(caller, nameOf(runs, request.agent));
      // Prefixed to keep them apart from sub-run keys, which parent runs choose.
      const key = options.key === undefined ? {} : { key: `caller:${options.key}` };
      return await admitted(() =>
        runs.start(withMetadata(request, metadata), { ...options, ...key, tenant, caller: by, context }),
      );
    },
    async fork(run, request) {
      demand(caller, "start");
      if (request.instructions !== undefined) demand(caller, "inspect");
      // Into the original's tenant, so reading it is not enough.
      if ((await own(run, "see")).tenant !== tenant) throw noRun(run);
      const forked = await admitted(() => runs.fork(run, request, { tenant, caller: by }));
      const details = { from: run, after: request.after };
      await admit.audit({ action: "run.forked", by: id, tenant, run: forked.run, details });
      return forked;
    },
    follow: (run, options) =>
      checked.delete(run) ? runs.follow(run, options) : afterCheck(() => own(run, "see"), runs.follow(run, options)),
    async events(run, query) {
      await own(run, "see");
      return await runs.events(run, query);
    },
    feed(query = {}) {
      demand(caller, "see");
      if (query.agent !== undefined) permit(caller, query.agent);
      const { agents } = caller;
      const within = caller.tenants === "all" ? {} : { tenant };
      return runs.feed({ ...query, ...within, ...(agents === undefined ? {} : { agents }) });
    },
    async get(run) {
      const row = await own(run, "see");
      checked.add(run);
      return row;
    },
    async list(query) {
      demand(caller, "see");
      if (query.agent !== undefined) permit(caller, query.agent);
      const { agents } = caller;
      return await runs.list({ ...query, ...tenantOf(caller, query), ...(agents === undefined ? {} : { agents }) });
    },
    async cancel(run, reason, details) {
      const { state, tenant } = await own(run, "steer");
      await runs.cancel(run, reason, { ...details, by: caller.id });
      if (state !== "done")
        await admit.audit({ action: "run.cancelled", by: caller.id, tenant, run, details: { reason } });
    },
    async signal(run, kind, body, id) {
      const scope = kind === "approve" ? "approve" : "steer";
      demand(caller, scope);
      await own(run, scope);
      // Who it was is the key, whatever the client says.
      const signed = kind === "cancel" ? body : { ...body, by: caller.id };
      return await runs.signal(run, kind, signed, id);
    },
    async embed(request, signal) {
      demand(caller, "start");
      permit(caller, nameOf(runs, request.agent));
      await admit.charge();
      return await runs.embed(request, signal);
    },
    async remove(run) {
      const { tenant } = await own(run, "steer");
      await runs.remove(run);
      await admit.audit({ action: "run.removed", by: caller.id, tenant, run });
    },
    async wires(run) {
      demand(caller, "inspect");
      await own(run, "see");
      return await runs.wires(run);
    },
    async content(run, hash) {
      await own(run, "see");
      return await runs.content(run, hash);
    },
    async pending(run) {
      await own(run, "see");
      return await runs.pending(run);
    },
    async countInput(request, options) {
      demand(caller, "start");
      permit(caller, nameOf(runs, request.agent));
      await admit.charge();
      return await runs.countInput(request, { ...options, tenant: caller.tenant });
    },
    agents: () => runs.agents().filter((agent) => caller.agents?.includes(agent.name) ?? true),
  };
}

const noRun = (run: string): VenturiError => new VenturiError("run.get", "not_found", `there is no run "${run}"`);

/** Sessions of two tenants may have one name, so a session is the caller's own unless a tenant is named. */
function tenantOf(caller: KeyHolder, { tenant, session }: ListQuery): Pick<ListQuery, "tenant"> {
  if (tenant === undefined) return caller.tenants === "all" && session === undefined ? {} : { tenant: caller.tenant };
  if (tenant === caller.tenant || caller.tenants === "all") return { tenant };
  const message = `this key sees the runs of its own tenant, "${caller.tenant}"; \`tenants: all\` of its entry under server.auth lets it see the others`;
  throw new VenturiError("run.list", "forbidden", message);
}

const withMetadata = (request: RunRequest, metadata: RunRequest["metadata"]): RunRequest =>
  metadata === undefined ? request : { ...request, metadata: { ...request.metadata, ...metadata } };

/** Resolves an alias to the agent's own name. */
const nameOf = (runs: Runs, called: string): string =>
  runs.agents().find(({ name, aliases }) => name !== called && aliases.includes(called))?.name ?? called;

async function* afterCheck<T>(check: () => Promise<unknown>, items: AsyncIterable<T>): AsyncGenerator<T> {
  await check();
  yield* items;
}
