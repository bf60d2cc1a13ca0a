import { performance } from "node:perf_hooks";
import { context as active, trace } from "@opentelemetry/api";
import type { MemoryStore } from "../../core/ports/memory.ts";
import { attributes, labels, spans } from "../base/names.ts";
import { originNow } from "../base/origin.ts";
import { endSpan } from "./instrumentation.ts";
import { errorType, good, mark, type Outcome, outcomeOf } from "./outcome.ts";
import type { Tracing } from "./traces.ts";

/** Wraps a memory with a span and a duration for each operation of a run; no texts. */
export function measuredMemory(measure: Tracing, name: string, store: MemoryStore): MemoryStore {
  const timed = async <T>(operation: string, run: string | undefined, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    let outcome: Outcome = good;
    const span = spanOf(measure, { operation, name, run, start });
    try {
      const value = await work();
      const found = Array.isArray(value) ? value.length : undefined;
      if (found !== undefined) span?.span.setAttribute(attributes.memoryNotes, found);
      return value;
    } catch (thrown) {
      outcome = outcomeOf(thrown, undefined, "unavailable");
      throw thrown;
    } finally {
      const end = performance.now();
      const { sets, instruments } = measure.sdk;
      const set = sets.of({
        [attributes.memoryStore]: name,
        [labels.operation]: operation,
        [attributes.errorType]: errorType(outcome),
      });
      instruments.memoryDuration(set).record((end - start) / 1_000, span?.span.spanContext());
      if (span !== undefined && run !== undefined) {
        mark(span.span, outcome);
        endSpan(measure, run, span.span, span.origin.time(end));
      }
    }
  };
  return {
    put: (asked) => timed("put", asked.note.run, () => store.put(asked)),
    search: (asked) => timed("search", asked.run, () => store.search(asked)),
    get: (place, id) => timed("get", undefined, () => store.get(place, id)),
    list: (place, page) => timed("list", undefined, () => store.list(place, page)),
    erase: (which) => timed("erase", undefined, () => store.erase(which)),
  };
}

interface Timed {
  readonly operation: string;
  readonly name: string;
  readonly run: string | undefined;
  readonly start: number;
}

/** Below the call that asked, or the run itself. What is asked over HTTP has the request's duration. */
function spanOf(measure: Tracing, { operation, name, run, start }: Timed) {
  const runTrace = run === undefined ? undefined : measure.traces.get(run);
  if (runTrace === undefined) return undefined;
  const above = trace.getSpanContext(active.active()) ?? runTrace.span.spanContext();
  const origin = runTrace.origin ?? originNow();
  const span = measure.sdk.tracer.startSpan(
    `${spans.memory} ${operation}`,
    { startTime: origin.time(start), attributes: { [attributes.memoryStore]: name } },
    above,
  );
  return { span, origin };
}
