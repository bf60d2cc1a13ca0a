import type { Claim, Journal } from "../journal/journal.ts";
import type { RunLog } from "../journal/run-log.ts";
import type { Provider } from "../model/provider.ts";
import type { RunEvent } from "../run/events.ts";
import { token } from "../values/token.ts";
import type { Log } from "./log.ts";
import type { MemoryStore } from "./memory.ts";
import type { Runs } from "./runs.ts";
import type { Observed, ServiceMetric } from "./service-metrics.ts";
import type { Tool } from "./tool.ts";

type Labels = Readonly<Record<string, string>>;

export type MetricsFormat = "prometheus" | "openmetrics";

/**
 * Telemetry as wrappers: a port goes in, the same port comes out. Only the composition root applies them. Run and round spans
 * are derived from the events passing through `runLog`, so new runs, resumed runs and sub-agents share one code path.
 */
export interface Telemetry {
  provider(name: string, type: string, provider: Provider): Provider;
  tool(tool: Tool): Tool;
  journal(journal: Journal): Journal;
  memory(name: string, store: MemoryStore): MemoryStore;
  /** `history`: events written before the current owner claimed the run. */
  runLog(log: RunLog, claim: Claim, history: readonly RunEvent[]): RunLog;
  runs(runs: Runs): Runs;
  log(log: Log): Log;
  /** The event loop was blocked for `ms`: recorded on every running run. */
  stalled(ms: number, culprit: string | undefined): void;
  /** Counts an event outside any run. */
  count(name: ServiceMetric<"counter">, attributes: Labels, by?: number): void;
  /** Changes the number of things in progress; -1 when one has ended. */
  shift(name: ServiceMetric<"level">, by: number, attributes: Labels): void;
  /** Records a duration outside any run, ms. */
  took(name: ServiceMetric<"histogram">, ms: number, attributes: Labels): void;
  /** `read` is called at each collection. Series it no longer returns become zero; while it fails there is no value. */
  observe(name: ServiceMetric<"gauge">, read: () => Observed | Promise<Observed>): void;
  /** In Prometheus text format, or OpenMetrics, which has exemplars. */
  metrics(format?: MetricsFormat): Promise<string>;
  /** The run's spans as OTLP JSON, from a bounded ring. */
  trace(run: string): unknown | undefined;
  /** Drops the run's spans from the ring: the run was erased. */
  forget(run: string): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}
export const Telemetry = token<Telemetry>("Telemetry");

const done = async () => {};

export const noTelemetry: Telemetry = {
  provider: (_name, _type, provider) => provider,
  tool: (tool) => tool,
  journal: (journal) => journal,
  memory: (_name, store) => store,
  runLog: (log) => log,
  runs: (runs) => runs,
  log: (log) => log,
  stalled: () => {},
  count: () => {},
  shift: () => {},
  took: () => {},
  observe: () => {},
  metrics: async () => "",
  trace: () => undefined,
  forget: () => {},
  flush: done,
  close: done,
};
