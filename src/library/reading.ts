import { fromJson, VenturiError } from "../core/errors/errors.ts";
import type { FollowOptions, Runs } from "../core/ports/runs.ts";
import { isTerminal, type RunEvent, type TerminalEvent } from "../core/run/events.ts";
import { DraftParser } from "./draft.ts";

type Follow = Pick<Runs, "follow">;

/** The run's events in committed batches, to the end. Throws when the signal aborts, so that a cut stream does not look complete. */
export async function* batches(
  runs: Follow,
  run: string,
  options: FollowOptions = {},
): AsyncGenerator<readonly RunEvent[], TerminalEvent> {
  const { signal } = options;
  signal?.throwIfAborted();
  for await (const batch of runs.follow(run, { channel: "library", ...options })) {
    yield batch;
    const last = batch.at(-1);
    if (last !== undefined && isTerminal(last)) return last;
  }
  signal?.throwIfAborted();
  throw new VenturiError("run.follow", "shutting_down", `venturi was closed before the run ${run} ended`);
}

/** Yields text as it arrives; then throws the run's error if it failed. */
export async function* textOf(source: AsyncGenerator<readonly RunEvent[], TerminalEvent>): AsyncGenerator<string> {
  for await (const batch of source) {
    let text = "";
    for (const event of batch) {
      if (event.type === "text.delta" || event.type === "refusal.delta") text += event.text;
      else if (event.type === "run.failed") {
        if (text !== "") yield text;
        throw fromJson(event.error);
      }
    }
    if (text !== "") yield text;
  }
}

/** Yields the current round's object as it grows; then throws the run's error if it failed. */
export async function* draftsOf(source: AsyncGenerator<readonly RunEvent[], TerminalEvent>): AsyncGenerator<unknown> {
  let parser = new DraftParser();
  for await (const batch of source) {
    let changed = false;
    for (const event of batch) {
      if (event.type === "round.started" || event.type === "round.retracted") {
        parser = new DraftParser();
        changed = false;
      } else if (event.type === "text.delta") changed = parser.push(event.text) || changed;
      else if (event.type === "run.failed") {
        if (changed) yield parser.root;
        throw fromJson(event.error);
      }
    }
    if (changed) yield parser.root;
  }
}
