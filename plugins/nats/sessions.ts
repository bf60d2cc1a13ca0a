import { type Enqueue, VenturiError } from "venturi/plugin";
import type { Line, Lines } from "./lines.ts";
import type { Names } from "./names.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

/** Scoped to a tenant. */
export interface SessionName {
  readonly tenant: string;
  readonly session: string;
}

export interface SessionsOptions {
  readonly lines: Lines;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
}

/**
 * The queue of each session. A run may start when all before it have ended; that never reverts, so a stale answer is still
 * right.
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Appends the run to its session's queue; returns whether others are before it. Drops ended runs. */
  async enter(op: string, of: SessionName, { run, whenBusy }: Pick<Enqueue, "run" | "whenBusy">): Promise<boolean> {
    let isBusy = false;
    await this.#options.lines.change(op, this.#subject(of), async (line) => {
      // One already queued, by another enqueue with the same key or after a lost response, keeps its place.
      const place = line.findIndex(([other]) => other === run);
      const before = await this.#unfinished(op, of, place < 0 ? line : line.slice(0, place));
      isBusy = before.length > 0;
      if (isBusy && whenBusy === "conflict") throw busy(op, of.session);
      return place < 0 ? [...before, [run, 0]] : undefined;
    });
    return isBusy;
  }

  /** The run whose turn it is. */
  async first(op: string, of: SessionName): Promise<string | undefined> {
    const { line } = await this.#options.lines.read(op, this.#subject(of));
    const [first] = await this.#unfinished(op, of, line);
    return first?.[0];
  }

  leave(op: string, of: SessionName, run: string): Promise<void> {
    return this.#options.lines.leave(op, this.#subject(of), run);
  }

  async #unfinished(op: string, of: SessionName, line: Line): Promise<Line> {
    const { view, tails, lines } = this.#options;
    const stands = await Promise.all(
      line.map(async (entry) => {
        const [run] = entry;
        const known = view.get(run);
        if (known?.state === "done") return false;
        const tail = await tails.read(op, run);
        if (!tail) return !(await lines.isGivenUp(op, of.tenant, entry));
        // An id already used by another session's run was refused after it had entered the queue.
        const isOther = known !== undefined && (known.session !== of.session || known.tenant !== of.tenant);
        return tail.state !== "done" && !isOther;
      }),
    );
    return line.filter((_, index) => stands[index]);
  }

  #subject({ tenant, session }: SessionName): string {
    return this.#options.names.session(tenant, session);
  }
}

export const busy = (op: string, session: string | undefined): VenturiError =>
  new VenturiError(op, "conflict", `the session ${session} has an active run`);
