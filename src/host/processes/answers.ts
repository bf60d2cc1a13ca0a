import type { MetricsFormat } from "../../core/ports/telemetry.ts";
import type { Child } from "./child.ts";
import type { ProcessState } from "./protocol.ts";
import { countersOf, sumMetrics } from "./sum-metrics.ts";

/** Combines the answers of the service's processes. */
export class Answers {
  readonly #children: ReadonlySet<Child>;
  /** Counters of processes that have ended. */
  #past = "";
  /** Restarts by process number. */
  readonly #restarts = new Map<number, number>();

  constructor(children: ReadonlySet<Child>) {
    this.#children = children;
  }

  ended({ metrics }: Child): void {
    this.#past = countersOf(sumMetrics([this.#past, metrics]));
  }

  /** Counts a replacement of this process; returns the total. */
  replaced(number: number): number {
    const restarts = (this.#restarts.get(number) ?? 0) + 1;
    this.#restarts.set(number, restarts);
    return restarts;
  }

  async metrics(format: MetricsFormat): Promise<string> {
    await Promise.all(
      [...this.#children].map(async (child) => {
        // A process that does not answer in time counts with its last report; otherwise the sum would shrink.
        const text = await child.link.ask("metrics", undefined).catch(() => child.metrics);
        child.metrics = text;
      }),
    );
    const current = [...this.#children].map(({ metrics }) => metrics);
    return sumMetrics([this.#past, ...current, this.#ownMetrics()], format);
  }

  #ownMetrics(): string {
    return [
      "# HELP venturi_process_restarts Processes that ended by themselves and were replaced",
      "# TYPE venturi_process_restarts counter",
      `venturi_process_restarts_total ${[...this.#restarts.values()].reduce((sum, count) => sum + count, 0)}`,
      "",
    ].join("\n");
  }

  async states(): Promise<ProcessState[]> {
    const states = [...this.#children].map(async ({ number, pid, link, status: known, startedAt }) => {
      const isStarting = known === "starting";
      // In parallel: a silent process takes the full timeout for each.
      const [status, runs] = await Promise.all([
        isStarting ? known : link.ask("status", undefined).catch((): "silent" => "silent"),
        isStarting ? 0 : link.ask("active", undefined).catch(() => undefined),
      ]);
      const restarts = this.#restarts.get(number) ?? 0;
      const state = { number, pid, status: known === "draining" ? known : status, restarts, startedAt };
      return runs === undefined ? state : { ...state, runs };
    });
    const found = (await Promise.all(states)).sort((left, right) => left.number - right.number);
    // They share one journal: the others may not have noticed yet what one of them found.
    if (!found.some(({ status }) => status === "not_ready")) return found;
    return await Promise.all(found.map((state) => this.#doubted(state)));
  }

  async #doubted(state: ProcessState): Promise<ProcessState> {
    const child = [...this.#children].find(({ pid }) => pid === state.pid);
    if (state.status !== "ready" || child === undefined) return state;
    return { ...state, status: await child.link.ask("doubt", undefined).catch((): "silent" => "silent") };
  }

  async trace(run: string): Promise<unknown> {
    const asked = [...this.#children].map(({ link }) => link.ask("trace", { run }).catch(() => null));
    // A run that changed processes has spans in several; use the longest trace.
    const found = (await Promise.all(asked)).filter((trace) => trace !== null && trace !== undefined);
    return found.sort((left, right) => JSON.stringify(right).length - JSON.stringify(left).length)[0] ?? null;
  }
}
