import type { RunEvent } from "../../core/run/events.ts";
import { foldOf } from "../../core/run/recorded-fold.ts";
import { attributes as keys, spans as names, scope } from "../../telemetry/base/names.ts";

interface Drawn {
  readonly name: string;
  readonly parent?: string | undefined;
  readonly from: number;
  /** Undefined: it was open at the last event. */
  readonly to: number | undefined;
  readonly failed?: boolean;
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/**
 * Reconstructs a run's trace from its events as OTLP JSON, for runs whose spans are gone: run, rounds, generations and tools,
 * at millisecond resolution. Chunks and deliveries are not in the events.
 */
export function traceOfEvents(events: readonly RunEvent[]): unknown {
  const { started, end, rounds, at } = foldOf(events);
  const traceId = /^00-([0-9a-f]{32})-/.exec(started?.trace ?? "")?.[1] ?? "0".repeat(32);
  const spans: unknown[] = [];
  const draw = ({ name, parent, from, to = at, failed = false, attributes = [] }: Drawn): string => {
    const spanId = (spans.length + 1).toString(16).padStart(16, "0");
    spans.push({
      traceId,
      spanId,
      ...(parent === undefined ? {} : { parentSpanId: parent }),
      name,
      startTimeUnixNano: nanos(from),
      endTimeUnixNano: nanos(to),
      attributes,
      ...(failed ? { status: { code: 2 } } : {}),
    });
    return spanId;
  };
  const hasFailed = end?.type === "run.failed";
  const timing = Object.entries(end?.timing ?? {}).map(([key, ms]) => ({
    key: `${keys.timing}.${key}`,
    value: { doubleValue: ms },
  }));
  const run =
    started &&
    draw({ name: `${names.agent} ${started.agent}`, from: started.at, to: at, failed: hasFailed, attributes: timing });
  for (const { round, startedAt, endedAt, attempts, calls } of rounds) {
    const index = { key: keys.roundIndex, value: { intValue: round } };
    const parent = draw({ name: names.round, parent: run, from: startedAt, to: endedAt, attributes: [index] });
    for (const attempt of attempts) {
      const isCut = attempt.retracted !== undefined || attempt !== attempts.at(-1) || hasFailed;
      const failed = attempt.finish === undefined && (attempt.error !== undefined || isCut);
      draw({ name: `${names.chat} ${attempt.model}`, parent, from: attempt.startedAt, to: attempt.endedAt, failed });
    }
    for (const { name, executedAt: from, endedAt: to, finished } of calls)
      if (from !== undefined) draw({ name: `${names.tool} ${name}`, parent, from, to, failed: finished?.ok === false });
  }
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans }] }] };
}

const nanos = (ms: number): string => `${Math.round(ms)}000000`;
