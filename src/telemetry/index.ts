import type { Ownership } from "../core/journal/journal.ts";
import type { Telemetry } from "../core/ports/telemetry.ts";
import type { TelemetryParts, TelemetrySettings } from "./base/settings.ts";
import { Ring } from "./sdk/ring.ts";
import { createSdk } from "./sdk/sdk.ts";
import { Content } from "./wrappers/content.ts";
import { type Delivery, measuredRuns } from "./wrappers/deliver.ts";
import { measuredJournal } from "./wrappers/journal.ts";
import { measuredLog } from "./wrappers/log.ts";
import { MeasuredLog } from "./wrappers/measured-run-log.ts";
import { measuredMemory } from "./wrappers/memory.ts";
import { cancelled } from "./wrappers/outcome.ts";
import { measuredProvider } from "./wrappers/provider.ts";
import { measuredTool } from "./wrappers/tool.ts";
import { Traces, type Tracing } from "./wrappers/traces.ts";

export { defaultSettings, type TelemetryParts, type TelemetrySettings } from "./base/settings.ts";

/** OpenTelemetry instrumentation. Importing this loads the SDK, so import it only when telemetry is on. */
export async function createTelemetry(settings: TelemetrySettings, parts: TelemetryParts): Promise<Telemetry> {
  const sdk = await createSdk(settings, parts);
  const measure: Tracing = {
    sdk,
    settings,
    content: new Content(settings),
    ring: new Ring(settings.ring, sdk.resource, sdk.version),
    providers: new Map(),
    traces: new Traces(),
    slowAppend: (ms, runs, tries) =>
      parts.log?.warn("slow journal append; is its disk or database busy or locked?", {
        ms: Math.round(ms),
        runs,
        ...(tries > 1 ? { tries } : {}),
      }),
  };
  // Ports already instrumented: a program may pass one back through `replace`, and would get every span twice.
  const measured = new WeakSet<object>();
  const once = <Port extends object>(port: Port, wrap: () => Port): Port => {
    if (measured.has(port)) return port;
    const made = wrap();
    measured.add(made);
    return made;
  };
  const queued = new WeakSet<Ownership>();
  const deliveries = new Set<Delivery>();
  return {
    provider: (key, type, provider) => once(provider, () => measuredProvider(measure, { key, type }, provider)),
    tool: (tool) => once(tool, () => measuredTool(measure, tool)),
    journal: (journal) => once(journal, () => measuredJournal(measure, journal, queued)),
    memory: (name, store) => once(store, () => measuredMemory(measure, name, store)),
    runLog: (log, claim, history) =>
      new MeasuredLog(measure, log, claim, { history, queued: queued.has(claim.ownership) }),
    runs: (runs) => once(runs, () => measuredRuns(measure, runs, deliveries)),
    log: (log) => measuredLog(measure, log),
    stalled(ms, culprit) {
      sdk.instruments.stalls.record(ms / 1_000);
      measure.traces.stalled(ms, culprit);
    },
    count: (name, attributes, by = 1) => sdk.service.add(name, by, attributes),
    shift: (name, by, attributes) => sdk.service.add(name, by, attributes),
    took: (name, ms, attributes) => sdk.service.took(name, ms, attributes),
    observe: (name, read) => sdk.service.observe(name, read),
    metrics: async (format = "prometheus") => {
      const { exposition } = await import("./metrics/exposition.ts");
      return exposition(await sdk.collect(), format);
    },
    trace: (run) => measure.ring.trace(run),
    forget: (run) => measure.ring.forget(run),
    flush: () => sdk.flush(),
    async close() {
      for (const delivery of [...deliveries]) delivery.end(cancelled);
      measure.traces.close();
      await sdk.close();
    },
  };
}
