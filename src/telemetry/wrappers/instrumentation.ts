import type { Span } from "@opentelemetry/api";
import type { Origin } from "../base/origin.ts";
import type { TelemetrySettings } from "../base/settings.ts";
import type { Block } from "../otlp/block.ts";
import { rowsOf } from "../otlp/span-rows.ts";
import type { Ring } from "../sdk/ring.ts";
import type { Sdk } from "../sdk/sdk.ts";
import type { Content } from "./content.ts";

/** Dependencies shared by all wrappers. */
export interface Instrumentation {
  readonly sdk: Sdk;
  readonly settings: TelemetrySettings;
  readonly content: Content;
  readonly ring: Ring;
  /** The conventions' names of the providers, by their names in the config. */
  readonly providers: Map<string, string>;
  slowAppend(ms: number, runs: number, tries: number): void;
}

/** Whether the run's spans are used at all. Without an exporter only the ring does, which forgets a run after enough newer ones. */
export const areTaken = ({ sdk, ring }: Instrumentation, run: string): boolean =>
  sdk.objects || sdk.blocks !== undefined || ring.has(run);

/** Ends a span at the given time and records it in the ring. */
export function endSpan(measure: Instrumentation, run: string, span: Span, time: ReturnType<Origin["time"]>): void {
  if (!span.isRecording()) return;
  span.end(time);
  measure.ring.span(run, span);
}

/** Exports a block unchanged, or span by span if objects are needed. */
export function emitBlock(measure: Instrumentation, run: string, block: Block): void {
  if (block.size === 0) return;
  if (measure.sdk.objects) {
    emitObjects(measure, run, block);
    return;
  }
  measure.sdk.blocks?.add(block);
  measure.ring.block(run, block);
}

function emitObjects(measure: Instrumentation, run: string, block: Block): void {
  const made: Span[] = [];
  for (const row of rowsOf(block)) {
    const above = row.parentRow === undefined ? undefined : made[row.parentRow];
    const span = measure.sdk.tracer.startSpan(
      row.name,
      { startTime: block.origin.time(row.start), attributes: row.attributes },
      above?.spanContext() ?? block.parent,
    );
    made.push(span);
    if (!span.isRecording()) continue;
    span.end(block.origin.time(Math.max(row.start, row.end)));
    measure.ring.rowSpan(run, span);
  }
}
