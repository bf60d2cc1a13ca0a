import { messageOf, wrap } from "../core/errors/errors.ts";
import type { SignalFeed } from "../core/journal/run-log.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { Loop } from "./loop.ts";
import { watchTime } from "./run/limits.ts";
import { RunContext, type RunDeps } from "./run/run-context.ts";

export interface Stops {
  /** Signals sent to the run: cancel, approve, message. */
  readonly feed: SignalFeed;
  /** Ownership is lost: stop and write nothing more. */
  readonly release: AbortSignal;
  /** The run must end now, with its terminal event. */
  readonly interrupt: AbortSignal;
}

/**
 * Executes a run from its last event to its terminal event. Writes exactly one terminal event, whatever happens, unless the run
 * is released; rejects only when the journal cannot store that event.
 */
export async function runAgent(deps: RunDeps, stops: Stops): Promise<void> {
  const run = new RunContext(deps);
  if (run.state.terminal) return;
  const loop = new Loop(run);
  run.countdown = watchTime(run);
  const unsubscribe = stops.feed.subscribe(0, (signal) => loop.receive(signal));
  const watched = new Watched(loop, deps.runLog.signal, stops);
  try {
    await loop.run();
  } finally {
    run.countdown?.stop();
    unsubscribe();
    watched.leave();
    for (const failure of await run.live.dispose()) {
      deps.log.warn("a context could not be disposed", { run: run.run, error: messageOf(failure) });
    }
  }
}

/** The signals that stop a run, with one listener: three closures for each would be a kilobyte of every open run. */
class Watched {
  readonly #loop: Loop;
  readonly #journal: AbortSignal;
  readonly #stops: Stops;

  constructor(loop: Loop, journal: AbortSignal, stops: Stops) {
    this.#loop = loop;
    this.#journal = journal;
    this.#stops = stops;
    for (const signal of this.#signals) {
      if (signal.aborted) this.#stop(signal);
      else signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    keepOne(this);
  }

  readonly #onAbort = ({ target }: Event): void => {
    for (const signal of this.#signals) if (signal === target) this.#stop(signal);
  };

  leave(): void {
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
  }

  get #signals(): AbortSignal[] {
    return [this.#journal, this.#stops.release, this.#stops.interrupt];
  }

  #stop(signal: AbortSignal): void {
    const { reason } = signal;
    if (signal === this.#journal) this.#loop.release(wrap("agent.run", reason, "journal_failed"));
    else if (signal === this.#stops.release) this.#loop.release(wrap("agent.run", reason, "shutting_down"));
    else this.#loop.interrupt(wrap("agent.run", reason, "stream_interrupted"));
  }
}
