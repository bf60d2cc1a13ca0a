import { messageOf, wrap } from "../core/errors/errors.ts";
import type { SignalFeed } from "../core/journal/run-log.ts";
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
  const cleanUp = [
    watchTime(run),
    stops.feed.subscribe(0, (signal) => loop.receive(signal)),
    onAbort(deps.runLog.signal, (reason) => loop.release(wrap("agent.run", reason, "journal_failed"))),
    onAbort(stops.release, (reason) => loop.release(wrap("agent.run", reason, "shutting_down"))),
    onAbort(stops.interrupt, (reason) => loop.interrupt(wrap("agent.run", reason, "stream_interrupted"))),
  ];
  try {
    await loop.run();
  } finally {
    for (const stop of cleanUp) stop();
    for (const failure of await run.live.dispose()) {
      deps.log.warn("a context could not be disposed", { run: run.run, error: messageOf(failure) });
    }
  }
}

function onAbort(signal: AbortSignal, callback: (reason: unknown) => void): () => void {
  const listener = () => callback(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
