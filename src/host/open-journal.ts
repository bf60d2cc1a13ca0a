import { systemClock } from "../core/clock.ts";
import { VenturiError } from "../core/errors.ts";
import type { RunEvent } from "../core/events.ts";
import type { Journal } from "../core/journal.ts";
import { noTelemetry } from "../core/telemetry.ts";
import { type Config, type LoadOptions, loadConfig } from "./config/load.ts";
import { hostContainer } from "./container.ts";
import { Instances } from "./instances.ts";
import { openLog } from "./log.ts";

export interface OpenedJournal {
  readonly config: Config;
  readonly journal: Journal;
  close(): Promise<void>;
}

/** The configured journal alone, for commands that look into it: no provider, no worker, no server. */
export async function openJournal(options: LoadOptions): Promise<OpenedJournal> {
  const config = await loadConfig(options);
  const log = await openLog({ ...config.telemetry.logs, level: "warn" });
  const runs = () => {
    throw new VenturiError("journal.open", "internal", "only the journal is open");
  };
  const container = hostContainer({ config, log, clock: systemClock, telemetry: noTelemetry, runs });
  const instances = container.resolve(Instances);
  const journal = await instances.make("journal", config.journal);
  return { config, journal, close: () => instances.close() };
}

const page = 1_000;

/** A run's events from the journal; `not_found` when there is no such run. */
export async function eventsOf(journal: Journal, run: string): Promise<RunEvent[]> {
  const row = await journal.get(run);
  if (row === undefined) throw new VenturiError("journal.read", "not_found", `there is no run "${run}" in the journal`);
  const events: RunEvent[] = [];
  while (events.length < row.head) {
    const read = await journal.read(run, events.length, page);
    if (read.length === 0) break;
    for (const event of read) events.push(event);
  }
  return events;
}
