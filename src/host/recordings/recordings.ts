import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal, PruneOptions } from "../../core/journal/journal.ts";
import { systemClock } from "../../core/ports/clock.ts";
import type { RunEvent } from "../../core/run/events.ts";
import type { RunsQuery } from "../../core/run/list-query.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { exportRun } from "../../journal/export.ts";
import { type Fixture, toFixture } from "../../journal/fixture.ts";
import { readHistory } from "../../journal/history.ts";
import { type Imported, importRun } from "../../journal/import.ts";
import { pruneRuns } from "../../journal/notes.ts";
import { replay } from "../../journal/replay.ts";
import { listRuns } from "../../journal/run-feedback.ts";

/** Operations on recorded runs, independent of the service that recorded them. */
export class Recordings {
  readonly journal: Journal;

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** JSON lines, each with its line break. */
  export(run: string): AsyncGenerator<string> {
    return exportRun(this.journal, run);
  }

  import(text: string, name?: string): Promise<Imported> {
    return importRun(this.journal, text, name);
  }

  /** Lists runs, also by notes such as feedback. */
  list(query: RunsQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
    return listRuns(this.journal, query);
  }

  /** Removes runs and their notes; returns the number of runs. */
  prune(options: PruneOptions): Promise<number> {
    return pruneRuns(this.journal, options, systemClock);
  }

  /** `speed`: speed factor; infinity: no delays. */
  replay(run: string, speed: number): AsyncGenerator<RunEvent> {
    return replay(this.journal, run, { clock: systemClock, speed });
  }

  /** The run as a simulator scenario. */
  async fixture(run: string): Promise<Fixture> {
    return toFixture(await this.events(run));
  }

  /** All events of the run; `not_found` when the run does not exist. */
  async events(run: string): Promise<RunEvent[]> {
    return readHistory(this.journal, await this.row(run));
  }

  async row(run: string): Promise<RunRow> {
    const row = await this.journal.get(run);
    if (row !== undefined) return row;
    throw new VenturiError(
      "journal.read",
      "not_found",
      `there is no run "${run}" in the journal; \`venturi runs\` lists them`,
    );
  }
}
