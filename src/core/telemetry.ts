import type { RunEvent } from "./events.ts";
import type { Claim, Journal, RunLog } from "./journal.ts";
import type { Log } from "./log.ts";
import type { Provider } from "./provider.ts";
import type { Runs } from "./runs.ts";
import { token } from "./token.ts";
import type { Tool } from "./tool.ts";

/**
 * Measurement, as a set of wrappers: a port goes in, the same port comes out. The composition root applies them; nothing
 * else knows. Run and round spans are a view of the events that pass through `runLog`, so a run, a resumed run and a
 * sub-agent are measured by the same code.
 */
export interface Telemetry {
  provider(name: string, type: string, provider: Provider): Provider;
  tool(tool: Tool): Tool;
  journal(journal: Journal): Journal;
  /** `history`: what the run has already written, before the current owner took it up. */
  runLog(log: RunLog, claim: Claim, history: readonly RunEvent[]): RunLog;
  runs(runs: Runs): Runs;
  log(log: Log): Log;
  /** Something blocked the event loop for `ms`: noted on every run under way. */
  stalled(ms: number, culprit: string | undefined): void;
  /** Counts something that happened outside a run, such as `config.reload.failed`. */
  count(name: string, attributes: Readonly<Record<string, string>>): void;
  /** Prometheus text. */
  metrics(): Promise<string>;
  /** The run's spans as OTLP JSON, from a bounded ring. */
  trace(run: string): unknown | undefined;
  flush(): Promise<void>;
  close(): Promise<void>;
}
export const Telemetry = token<Telemetry>("Telemetry");

const done = async () => {};

/** Measures nothing and costs nothing. */
export const noTelemetry: Telemetry = {
  provider: (_name, _type, provider) => provider,
  tool: (tool) => tool,
  journal: (journal) => journal,
  runLog: (log) => log,
  runs: (runs) => runs,
  log: (log) => log,
  stalled: () => {},
  count: () => {},
  metrics: async () => "",
  trace: () => undefined,
  flush: done,
  close: done,
};
