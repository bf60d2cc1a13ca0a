import { type RunEvent, type RunRow, VenturiError, type Voice } from "venturi/plugin";
import type { Heard } from "./playback.ts";
import { type Outlet, Speaker } from "./speaker.ts";

/** Runs whose speech can still be interrupted after it was sent. */
const remembered = 16;

/** Speech on one socket: one voice that runs take turns with. */
export class Speech {
  readonly #voice: Voice | undefined;
  readonly #outlet: Outlet;
  readonly #speakers = new Map<string, Speaker>();
  /** What was heard of runs interrupted after their end, for the session's next run. */
  readonly #kept = new Map<string, { readonly run: string; readonly heard: Heard }>();
  #turn: Promise<void> = Promise.resolve();

  constructor(voice: Voice | undefined, outlet: Omit<Outlet, "inTurn">) {
    this.#voice = voice;
    const inTurn = (speak: () => Promise<void>): Promise<void> => {
      this.#turn = this.#turn.then(speak);
      return this.#turn;
    };
    this.#outlet = { ...outlet, inTurn };
  }

  mustHaveVoice(): Voice {
    if (this.#voice !== undefined) return this.#voice;
    const message = "this socket has no voice; connect to the path of a channel of type speech";
    throw new VenturiError("socket.receive", "invalid_input", message);
  }

  begin({ run, after }: { readonly run: string; readonly after: number }): void {
    const speaker = new Speaker({ voice: this.mustHaveVoice(), outlet: this.#outlet, run, after });
    this.#speakers.delete(run); // Moves it to the end, as the newest.
    this.#speakers.set(run, speaker);
    // Sent audio may still be playing, so it can be interrupted long after its end.
    const [oldest] = [...this.#speakers].filter(([, other]) => other.isDone);
    if (oldest !== undefined && this.#speakers.size > remembered) this.#speakers.delete(oldest[0]);
  }

  take(run: string, batch: readonly RunEvent[]): void {
    const speaker = this.#speakers.get(run);
    if (speaker !== undefined) for (const event of batch) speaker.take(event);
  }

  interrupt(run: string, playedMs?: number): Heard | undefined {
    return this.#speakers.get(run)?.interrupt(playedMs);
  }

  keep({ run, session }: Pick<RunRow, "run" | "session">, heard: Heard): void {
    if (session !== undefined) this.#kept.set(session, { run, heard });
  }

  /** Metadata of a run about to start. */
  metadata(
    session: string | undefined,
    given: Record<string, unknown> | undefined,
  ): { metadata?: Record<string, unknown> } {
    const interrupted = session === undefined ? undefined : this.#kept.get(session);
    if (session !== undefined) this.#kept.delete(session);
    if (interrupted === undefined) return given === undefined ? {} : { metadata: given };
    return { metadata: { interrupted, ...given } };
  }

  close(): void {
    for (const speaker of this.#speakers.values()) speaker.close();
  }
}
