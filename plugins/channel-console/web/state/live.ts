import { signal } from "@preact/signals";
import { ClientError, type ConnectionState, type RunEvent } from "venturi/client";
import { emptyView, fold } from "../fold/fold.ts";
import { Snapshots } from "../fold/snapshots.ts";
import type { RunView } from "../fold/view.ts";
import { client } from "./session.ts";

/** Time per frame for folding events, ms; the rest waits for the next frame. */
const budget = 6;
/** Minimum time between two updates, ms. */
const interval = 30;

/**
 * A run on screen: its events and their fold. Events are folded at most every other frame, and `tick` changes once, however many arrived.
 */
export class LiveRun {
  readonly id: string;
  readonly events: RunEvent[] = [];
  view: RunView;
  /** Changes whenever the view does. */
  readonly tick = signal(0);
  readonly connection = signal<ConnectionState | "ended" | "failed">("connecting");
  readonly error = signal<ClientError | undefined>(undefined);
  /** How often the connection was lost and restored, and at which event it resumed. */
  readonly resumed = signal<{ readonly times: number; readonly at: number }>({ times: 0, at: 0 });
  /** The event at which the run is shown; undefined: as it is now. */
  readonly at = signal<number | undefined>(undefined);
  #whole: RunView;
  readonly #snapshots = new Snapshots();
  readonly #waiting: RunEvent[] = [];
  readonly #abort = new AbortController();
  #scheduled = false;
  #flushedAt = 0;
  #readers = 0;

  constructor(id: string) {
    this.id = id;
    this.#whole = emptyView(id);
    this.view = this.#whole;
    void this.#follow();
  }

  /** The run as it is now, whatever event is shown. */
  get whole(): RunView {
    return this.#whole;
  }

  hold(): () => void {
    this.#readers += 1;
    return () => {
      this.#readers -= 1;
      // A page that is left and another that opens the same run share it.
      setTimeout(() => {
        if (this.#readers > 0) return;
        this.#abort.abort();
        open.delete(this.id);
      }, 3000);
    };
  }

  /** Shows the run at an event; undefined: as it is now. */
  seek(at: number | undefined): void {
    if (at === this.at.value) return;
    const from = this.at.value === undefined ? undefined : this.view;
    this.at.value = at;
    this.view = at === undefined ? this.#whole : this.#snapshots.at(this.id, at, { events: this.events, from });
    this.tick.value += 1;
  }

  async #follow(): Promise<void> {
    let broken = false;
    const onConnection = (state: ConnectionState): void => {
      if (state === "open" && broken) {
        broken = false;
        this.resumed.value = { times: this.resumed.value.times + 1, at: this.#received };
      }
      if (state === "waiting") broken = true;
      this.connection.value = state;
    };
    try {
      const options = { signal: this.#abort.signal, onConnection };
      for await (const batch of client.value.run(this.id).batches(options)) {
        for (const event of batch) this.#waiting.push(event);
        this.#schedule();
      }
      this.connection.value = "ended";
    } catch (thrown) {
      if (this.#abort.signal.aborted) return;
      this.connection.value = "failed";
      this.error.value =
        thrown instanceof ClientError
          ? thrown
          : new ClientError({ op: "run.follow", code: "internal", err: String(thrown) });
    }
  }

  get #received(): number {
    return this.#waiting.at(-1)?.seq ?? this.events.at(-1)?.seq ?? 0;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A hidden tab has no frames; it keeps folding, so that it is up to date when shown again.
    if (document.hidden) setTimeout(() => this.#flush(), 250);
    else {
      // Every other frame is left for scrolling and typing.
      const rest = Math.max(0, this.#flushedAt + interval - performance.now());
      setTimeout(() => requestAnimationFrame(() => this.#flush()), rest);
    }
  }

  #flush(): void {
    this.#scheduled = false;
    const start = performance.now();
    this.#flushedAt = start;
    let taken = 0;
    for (const event of this.#waiting) {
      this.events.push(event);
      fold(this.#whole, event);
      this.#snapshots.note(this.#whole);
      const until = this.at.value;
      if (until !== undefined && event.seq <= until) fold(this.view, event);
      taken += 1;
      if (taken % 256 === 0 && performance.now() - start > budget) break;
    }
    this.#waiting.splice(0, taken);
    this.tick.value += 1;
    if (this.#waiting.length > 0) this.#schedule();
  }
}

const open = new Map<string, LiveRun>();

export function liveRun(id: string): LiveRun {
  const known = open.get(id);
  if (known !== undefined) return known;
  const run = new LiveRun(id);
  open.set(id, run);
  return run;
}
