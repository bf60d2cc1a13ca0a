import { tooManyRuns } from "venturi/internal";
import type { RunState } from "venturi/plugin";
import type { Line, Lines } from "./lines.ts";
import type { Names } from "./names.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

export interface CallersOptions {
  readonly lines: Lines;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
}

/** A caller with a limit on ready and running runs. */
export interface LimitedCaller {
  readonly tenant: string;
  readonly id: string;
  readonly most: number;
}

/** Runs of limited callers. Parked ones stay listed because they may come back, but do not count. */
export class Callers {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Rejects with `rate_limited` when the limit is reached. */
  async enter(op: string, { tenant, id, most }: LimitedCaller, run: string): Promise<void> {
    const { lines, names } = this.#options;
    await lines.change(op, names.caller(tenant, id), async (line) => {
      if (line.some(([other]) => other === run)) return undefined;
      const open = line.filter(([other]) => this.#options.view.get(other)?.state !== "done");
      const isParked = ([other]: Line[number]) => this.#options.view.get(other)?.state === "waiting";
      if (open.filter((entry) => !isParked(entry)).length < most) return [...open, [run, 0]];
      // The view may lag, so check the streams only now.
      const states = await Promise.all(open.map((entry) => this.#stateOf(op, tenant, entry)));
      if (states.filter((state) => state === "ready" || state === "running").length >= most) throw tooManyRuns(most);
      return [...open.filter((_, index) => states[index] !== "done"), [run, 0]];
    });
  }

  leave(op: string, { tenant, id }: Pick<LimitedCaller, "tenant" | "id">, run: string): Promise<void> {
    return this.#options.lines.leave(op, this.#options.names.caller(tenant, id), run);
  }

  async #stateOf(op: string, tenant: string, entry: Line[number]): Promise<RunState> {
    const tail = await this.#options.tails.read(op, entry[0]);
    if (tail) return tail.state;
    return (await this.#options.lines.isGivenUp(op, tenant, entry)) ? "done" : "ready";
  }
}
