import type { AgentDefinition } from "../../agent/run/definition.ts";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { AgentInfo } from "../../core/ports/runs.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import type { AgentPause } from "../../core/run/agent-pause.ts";
import { infoOf } from "./agent-info.ts";
import { agentNamed } from "./check-request.ts";
import { isName } from "./request-bounds.ts";

const op = "agent.pause";
const space = "venturi.agents.paused";
const key = "all";
/** How long changes by other processes may go unnoticed, ms. */
const freshFor = 1_000;
/** How long ended pauses are kept, so that runs that waited can say so, ms. */
const keptFor = 7 * 86_400_000;
const mostTries = 20;

interface PausedDeps {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Pick<Telemetry, "observe">;
  readonly revisions: { readonly current: { readonly agents: ReadonlyMap<string, AgentDefinition> } };
}

/** A pause, and its end if it has one. */
type Kept = AgentPause & { readonly until?: number };
type Pauses = Readonly<Record<string, Kept>>;

/**
 * The paused agents, kept in the journal so that all replicas know and restarts change nothing. Until the first successful read every agent
 * counts as paused: a run that should wait must not start because the journal was slow.
 */
export class PausedAgents {
  readonly #values: Journal["keyValues"];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #revisions: PausedDeps["revisions"];
  readonly #onResume: () => void;
  #pauses: Pauses = {};
  #known: boolean;
  #writes = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor({ journal, clock, log, revisions, telemetry }: PausedDeps, onResume: () => void) {
    this.#values = journal.keyValues;
    this.#clock = clock;
    this.#log = log;
    this.#revisions = revisions;
    this.#onResume = onResume;
    this.#known = journal.keyValues === undefined;
    telemetry.observe("venturi.agents.paused", () =>
      this.infos().map(({ name, paused }) => ({
        value: paused === undefined ? 0 : 1,
        attributes: { "gen_ai.agent.name": name },
      })),
    );
  }

  /** All agents, and whether they are paused. */
  infos(): readonly AgentInfo[] {
    return [...this.#revisions.current.agents.values()].map((agent) => {
      const paused = this.of(agent.name);
      return { ...infoOf(agent), ...(paused === undefined ? {} : { paused }) };
    });
  }

  /** Whether the state has been read. */
  get known(): boolean {
    return this.#known;
  }

  /** Why the agent is paused, if it is. Refreshes in the background from time to time. */
  of(agent: string): AgentPause | undefined {
    this.lookAgain();
    const { until, ...pause } = this.#of(agent) ?? { since: 0, until: 0 };
    return until === undefined ? pause : undefined;
  }

  /** The part of its last pause after this time, if any. */
  overlap(agent: string, from: number, now: number): { readonly from: number; readonly ms: number } | undefined {
    const pause = this.#of(agent);
    if (pause === undefined) return undefined;
    const begin = Math.max(from, pause.since);
    const ms = Math.min(now, pause.until ?? now) - begin;
    return ms > 0 ? { from: begin, ms } : undefined;
  }

  lookAgain(): void {
    if (this.#values === undefined || this.#clock.monotonic() - this.#readAt < freshFor) return;
    void this.read();
  }

  /** Never rejects: others report a failing journal, and the known state stays. */
  async read(): Promise<void> {
    this.#readAt = this.#clock.monotonic();
    this.#reading ??= this.#load()
      .then(
        () => {
          this.#known = true;
        },
        (thrown: unknown) => this.#log.debug("paused agents could not be read", { error: messageOf(thrown) }),
      )
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
  }

  /** False if it is already paused. */
  async pause(called: string, said: { readonly by?: string; readonly reason?: string } = {}): Promise<boolean> {
    const agent = this.#named(called);
    const pause = { ...textsOf(said), agent };
    const taken = await this.#change((pauses, now) => {
      const before = own(pauses, agent);
      if (before !== undefined && before.until === undefined) return undefined;
      return { ...pauses, [agent]: { since: now, ...textsOf(said) } };
    });
    if (taken) this.#log.info("agent paused", pause);
    return taken;
  }

  /** False if it is not paused. */
  async resume(called: string): Promise<boolean> {
    const agent = this.#named(called);
    const taken = await this.#change((pauses, now) => {
      const pause = own(pauses, agent);
      if (pause === undefined || pause.until !== undefined) return undefined;
      return { ...pauses, [agent]: { ...pause, until: now } };
    });
    if (taken) this.#log.info("agent resumed", { agent });
    this.#onResume();
    return taken;
  }

  #named(called: string): string {
    if (typeof called !== "string" || !isName(called)) throw new VenturiError(op, "invalid_input", "name the agent");
    return agentNamed(this.#revisions.current.agents, called).name;
  }

  #of(agent: string): Kept | undefined {
    return own(this.#pauses, agent);
  }

  async #change(change: (pauses: Pauses, now: number) => Pauses | undefined): Promise<boolean> {
    const values = this.#values;
    if (values === undefined)
      throw new VenturiError(op, "invalid_input", "this journal can't keep which agents are paused");
    const now = Math.floor(this.#clock.now());
    for (let tries = 0; tries < mostTries; tries++) {
      const { pauses, version } = await this.#load();
      const changed = change(pauses, now);
      if (changed === undefined) return false;
      const kept = Object.entries(changed).filter(([, { until }]) => until === undefined || until > now - keptFor);
      const next = Object.fromEntries(kept);
      if ((await values.put(space, { key, value: JSON.stringify(next), version })) === undefined) continue;
      this.#writes += 1;
      this.#pauses = next;
      this.#known = true;
      return true;
    }
    throw new VenturiError(op, "conflict", "others keep pausing and resuming agents; try again");
  }

  async #load(): Promise<{ pauses: Pauses; version: number }> {
    const writes = this.#writes;
    const found = await this.#values?.get(space, key);
    const pauses = found === undefined ? {} : (JSON.parse(found.value) as Pauses); // Written above.
    // A read that began before our own change may be older than it.
    if (writes === this.#writes) this.#pauses = pauses;
    return { pauses, version: found?.version ?? 0 };
  }
}

const own = (pauses: Pauses, agent: string): Kept | undefined =>
  Object.hasOwn(pauses, agent) ? pauses[agent] : undefined;

/** Validates the texts: programs may call this without a channel's checks. */
function textsOf(said: { readonly by?: unknown; readonly reason?: unknown } | null): { by?: string; reason?: string } {
  const { by, reason } = said ?? {};
  return {
    ...(typeof by === "string" ? { by: by.slice(0, 256) } : {}),
    ...(typeof reason === "string" ? { reason: reason.slice(0, 4_000) } : {}),
  };
}
