import type { BacklogRow, Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Observed } from "../../core/ports/service-metrics.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";

/** Interval between looks, ms. */
const every = 5_000;

export interface BacklogDeps {
  readonly journal: Pick<Journal, "backlog">;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Pick<Telemetry, "observe">;
  /** Agents this process can execute. */
  readonly agents: () => ReadonlyMap<string, unknown>;
}

/** Watches the journal's unfinished runs, especially those that no agent here can execute. */
export class Backlog {
  readonly #deps: BacklogDeps;
  #stop: (() => void) | undefined;
  #asking: Promise<readonly BacklogRow[]> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Agents missing at the last look, and whether that was logged. */
  #missing = new Map<string, boolean>();

  /** Claimable runs that no worker had taken at the last look; undefined before the first. */
  queued: number | undefined;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { journal, telemetry } = this.#deps;
    if (journal.backlog === undefined || this.#stop !== undefined) return;
    telemetry.observe("venturi.journal.runs", async () => byState(await this.rows()));
    telemetry.observe("venturi.approvals.open", async () => approvals(await this.rows()));
    telemetry.observe("venturi.runs.unexecutable", async () => this.#byAgent(await this.rows()));
    this.#next();
  }

  stop(): void {
    this.#stop?.();
  }

  /** A few seconds old at most. */
  rows(): Promise<readonly BacklogRow[]> {
    const { journal, clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#asking === undefined || now - this.#askedAt >= every / 5) {
      this.#askedAt = now;
      this.#asking = journal.backlog?.() ?? Promise.resolve([]);
      this.#asking.catch(() => {}); // Reported to whoever awaits it.
    }
    return this.#asking;
  }

  /** Claimable runs of agents that are not configured here. */
  stranded(rows: readonly BacklogRow[]): { readonly agent: string; readonly runs: number }[] {
    const agents = this.#deps.agents();
    return rows
      .filter(({ agent, state }) => state === "ready" && !agents.has(agent))
      .map(({ agent, runs }) => ({ agent, runs: Number(runs) }));
  }

  #next(): void {
    this.#stop = this.#deps.clock.after(every, () => {
      this.#next();
      this.rows().then(
        (rows) => {
          this.queued = countOf(rows.filter(({ state }) => state === "ready"));
          this.#tell(rows);
        },
        () => {
          this.queued = undefined; // Journal failures are reported elsewhere.
        },
      );
    });
  }

  /** Logs stranded runs only at the second look: another replica may have their agent. */
  #tell(rows: readonly BacklogRow[]): void {
    const { log } = this.#deps;
    const missing = new Map<string, boolean>();
    for (const { agent, runs } of this.stranded(rows)) {
      const told = this.#missing.get(agent);
      missing.set(agent, told !== undefined);
      if (told === false)
        log.warn("runs cannot go on: nobody has their agent; configure it again, or cancel them", { agent, runs });
    }
    for (const [agent, told] of this.#missing) {
      if (told && !missing.has(agent)) log.info("no run waits for the missing agent any more", { agent });
    }
    this.#missing = missing;
  }

  /** Reports zero for agents that are here, so that the minimum over replicas shows whether any has the agent. */
  #byAgent(rows: readonly BacklogRow[]): Observed {
    const here = [...this.#deps.agents().keys()].map((agent) => ({ agent, runs: 0 }));
    return [...here, ...this.stranded(rows)].map(({ agent, runs }) => ({
      value: runs,
      attributes: { "gen_ai.agent.name": agent },
    }));
  }
}

const states = ["ready", "running", "waiting"] as const;

const byState = (rows: readonly BacklogRow[]): Observed =>
  states.map((state) => ({ value: countOf(rows.filter((row) => row.state === state)), attributes: { state } }));

const approvals = (rows: readonly BacklogRow[]): Observed =>
  rows.every(({ asking }) => asking !== undefined)
    ? [{ value: rows.reduce((sum, { asking }) => sum + Number(asking), 0) }]
    : [];

const countOf = (rows: readonly BacklogRow[]): number => rows.reduce((sum, { runs }) => sum + Number(runs), 0);
