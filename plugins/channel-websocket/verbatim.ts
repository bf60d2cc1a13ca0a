import { encodeEvent, type RunEvent } from "venturi/plugin";

/** A message is closed past this many characters, so that one batch cannot exceed the reader's buffer by much. */
const piece = 64 * 1024;

/** A run's committed events as they are, a batch in a message: `{"type":"events","run","events":[…]}`. */
export class Verbatim {
  /** The run is read after this seq. */
  readonly from: number;
  readonly #head: string;

  constructor(run: string, after: number, id?: string) {
    this.from = after;
    const head = JSON.stringify({ type: "events", run, ...(id === undefined ? {} : { id }) });
    this.#head = `${head.slice(0, -1)},"events":[`;
  }

  *messages(batch: readonly RunEvent[]): Generator<string> {
    let events = "";
    for (const event of batch) {
      if (event.seq <= this.from) continue; // Speech reads the run from its start.
      events += events === "" ? encodeEvent(event) : `,${encodeEvent(event)}`;
      if (events.length < piece) continue;
      yield `${this.#head}${events}]}`;
      events = "";
    }
    if (events !== "") yield `${this.#head}${events}]}`;
  }
}
