import type { Journal } from "../core/journal/journal.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Telemetry } from "../core/ports/telemetry.ts";
import type { Config } from "./config/load.ts";
import { Backlog } from "./inspect/backlog.ts";
import { Series } from "./inspect/series.ts";
import { indexOnce } from "./recordings/reindex.ts";
import type { Revisions } from "./revisions/revisions.ts";
import { startRetention } from "./runs/retention.ts";
import type { HostRuns } from "./runs/runs.ts";
import { Shadows } from "./shadow/shadows.ts";
import type { EventLoopMonitor } from "./system/event-loop.ts";

/** Closes what was opened so far, in reverse order. */
export type Undo = (() => Promise<void>)[];

/** A host whose runs are open. */
export interface Opened {
  readonly log: Log;
  readonly clock: Clock;
  readonly eventLoop: EventLoopMonitor;
  readonly journal: Journal;
  readonly revisions: Revisions;
  readonly opened: HostRuns;
}

interface Beside {
  readonly config: Config;
  readonly shadows: boolean;
}

/** Starts what runs next to the runs: shadows, indexing of journals of earlier releases, retention, removals that were cut off. */
export function startBeside({ config, shadows }: Beside, deps: Opened, undo: Undo): void {
  const { journal, clock, log, revisions, opened } = deps;
  if (shadows) {
    const most = config.limits.activeRuns;
    const started = new Shadows({ journal, runs: opened, revisions, clock, log, most, active: () => opened.active });
    opened.watch(started);
    undo.push(() => started.close());
  }
  undo.push(indexOnce({ journal, clock, log, priceOf: (name) => revisions.current.priceOf(name) }));
  const { retention } = config.journal;
  undo.push(startRetention({ journal, retention, clock, log }));
  const isPruned = retention?.age !== undefined || retention?.count !== undefined; // Each prune finishes removals, too.
  if (shadows && !isPruned) opened.sweep.begin(); // A command for one run leaves that to the service.
}

/** Starts sampling when somebody inspects the service. */
export function figuresOf(deps: Opened, telemetry: Telemetry, undo: Undo): { series: Series; backlog: Backlog } {
  const { journal, clock, log, revisions, opened, eventLoop } = deps;
  const backlog = new Backlog({ journal, clock, log, telemetry, agents: () => revisions.current.agents });
  const series = new Series({
    clock,
    figures: opened.figures,
    active: () => opened.active,
    followers: () => opened.followers,
    blockedMs: () => eventLoop.recent().blockedMs,
    queued: () => backlog.queued,
  });
  undo.push(async () => series.stop());
  undo.push(async () => backlog.stop());
  return { series, backlog };
}
