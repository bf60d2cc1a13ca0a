import { systemClock } from "../core/clock.ts";
import type { RunEvent } from "../core/events.ts";
import type { Journal } from "../core/journal.ts";
import { eventsOf, exportRun } from "../journal/export.ts";
import { type Fixture, toFixture } from "../journal/fixture.ts";
import { type Imported, importRun } from "../journal/import.ts";
import { replay } from "../journal/replay.ts";

/** What can be done with runs that have been recorded, beside the service that records them. */
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

  /** `speed`: how many times faster than it was; infinite = without any wait. */
  replay(run: string, speed: number): AsyncGenerator<RunEvent> {
    return replay(this.journal, run, { clock: systemClock, speed });
  }

  /** A scenario for the simulator. */
  async fixture(run: string): Promise<Fixture> {
    const events: RunEvent[] = [];
    for await (const page of eventsOf(this.journal, run)) events.push(...page);
    return toFixture(events);
  }
}
