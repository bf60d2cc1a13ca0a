import { VenturiError } from "../../core/errors/errors.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { Scope } from "../../core/ports/scopes.ts";
import type { RunsQuery } from "../../core/run/list-query.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { isOfAgents } from "../../journal/session-agents.ts";
import { anyone, demand, permit } from "./auth.ts";
import type { KeyHolder } from "./key-holder.ts";

/** How many runs started by one socket are remembered. */
const mostStarted = 10_000;

/** What one caller may do with which runs. Throws `forbidden`, or `not_found` for a run that must not be known to exist. */
export class CallerAccess {
  readonly #runs: Runs;
  readonly #caller: KeyHolder;
  /** Runs started by this request or socket, which may read and cancel them whatever the key's scopes. */
  readonly #mine = new Set<string>();

  constructor(runs: Runs, caller: KeyHolder) {
    this.#runs = runs;
    this.#caller = caller;
  }

  demand(scope: Scope): void {
    demand(this.#caller, scope);
  }

  mayStart(agent: string): void {
    demand(this.#caller, "start");
    permit(this.#caller, nameOf(this.#runs, agent));
  }

  /** A stand-in module is code on this machine: whoever may name one can execute any code. */
  mayAnswer(unanswered: Parameters<Runs["fork"]>[1]["unanswered"]): void {
    if (typeof unanswered !== "object") return;
    if ("agent" in unanswered) return this.mayStart(unanswered.agent);
    const message = "unanswered: a module is for the command line and programs of your own; name an agent";
    throw new VenturiError("run.fork", "forbidden", message);
  }

  /** The agent's own name. Pausing an agent affects all tenants, so a key of one tenant may not do it. */
  mayPause(called: string): string {
    const caller = this.#caller;
    const agent = nameOf(this.#runs, called);
    demand(caller, "steer");
    permit(caller, agent);
    if (caller === anyone || (caller.tenants === "all" && caller.act === "all")) return agent;
    const message = "an agent is paused for all tenants, which takes a key with `tenants: all` and `act: all`";
    throw new VenturiError("agent.pause", "forbidden", message);
  }

  /** The own name of an agent that is called by an alias. */
  nameOf(called: string): string {
    return nameOf(this.#runs, called);
  }

  maySee(agent: string | undefined): void {
    demand(this.#caller, "see");
    if (agent !== undefined) permit(this.#caller, agent);
  }

  mayChange(tenant: string): boolean {
    const { tenant: own, tenants, act } = this.#caller;
    return tenant === own || (tenants === "all" && act === "all");
  }

  started(run: string): void {
    if (this.#mine.size < mostStarted) this.#mine.add(run);
  }

  /** `unseen`: the error for a run that exists, but not for this caller. */
  async own(run: string, scope: Scope, unseen: (run: string) => VenturiError = noRun): Promise<RunRow> {
    const caller = this.#caller;
    if (!this.#mine.has(run)) demand(caller, scope);
    const row = await this.#runs.get(run);
    const visible = this.mayChange(row.tenant) || (scope === "see" && caller.tenants === "all");
    if (visible && (caller.agents?.includes(row.agent) ?? true)) return row;
    throw unseen(run);
  }

  /** As `own`, for what shows the conversation before the run: the whole session must be the caller's to see. */
  async ownTurn(run: string): Promise<RunRow> {
    const row = await this.own(run, "see");
    const { tenant, session } = row;
    const { agents } = this.#caller;
    if (session === undefined || agents === undefined) return row;
    if (await isOfAgents(this.#runs, { tenant, session }, agents)) return row;
    throw noRun(run);
  }

  /** The query, limited to what the caller may see. */
  within(query: RunsQuery): RunsQuery {
    this.maySee(query.agent);
    const { agents = query.agents } = this.#caller;
    return { ...query, ...this.#tenantOf(query), ...(agents && { agents }) };
  }

  /** Two tenants may use the same session name, so a session query is limited to the caller's tenant unless it names one. */
  #tenantOf({ tenant, session }: RunsQuery): Pick<RunsQuery, "tenant"> {
    const { tenant: own, tenants } = this.#caller;
    if (tenant === undefined) return tenants === "all" && session === undefined ? {} : { tenant: own };
    if (tenant === own || tenants === "all") return { tenant };
    const message = `this key sees the runs of its own tenant, "${own}"; \`tenants: all\` of its entry under server.auth lets it see the others`;
    throw new VenturiError("run.list", "forbidden", message);
  }
}

export const noRun = (run: string): VenturiError =>
  new VenturiError("run.get", "not_found", `there is no run "${run}"`);

/** Resolves an alias to the agent's own name. */
const nameOf = (runs: Runs, called: string): string =>
  runs.agents().find(({ name, aliases }) => name !== called && aliases.includes(called))?.name ?? called;
