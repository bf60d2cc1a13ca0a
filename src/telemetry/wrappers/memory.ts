import { performance } from "node:perf_hooks";
import type { MemoryStore } from "../../core/ports/memory.ts";
import { attributes, labels, spans } from "../base/names.ts";
import { parseTraceparent } from "../base/traceparent.ts";
import { endSpan } from "./instrumentation.ts";
import { errorType, good, mark, type Outcome, outcomeOf } from "./outcome.ts";
import type { Tracing } from "./traces.ts";

/** Wraps a memory with a span and a duration per operation, without texts. */
export function measuredMemory(measure: Tracing, name: string, store: MemoryStore): MemoryStore {
  const timed = async <T>(operation: string, asking: Asking, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    let outcome: Outcome = good;
    const span = spanOf(measure, { operation, name, start, ...asking });
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
      if (span !== undefined) {
        mark(span.span, outcome);
        endSpan(measure, span.run, span.span, span.origin.time(end));
      }
    }
  };
  return {
    put: (asked) => timed("put", { run: asked.note.run, traceparent: asked.traceparent }, () => store.put(asked)),
    search: (asked) => timed("search", asked, () => store.search(asked)),
    get: (place, id) => timed("get", {}, () => store.get(place, id)),
    list: (place, page) => timed("list", {}, () => store.list(place, page)),
    erase: (which) => timed("erase", {}, () => store.erase(which)),
  };
}

interface Asking {
  readonly run?: string | undefined;
  readonly traceparent?: string | undefined;
}

interface Timed extends Asking {
  readonly operation: string;
  readonly name: string;
  readonly start: number;
}

/** A child of the calling tool's span, or of the run's. Requests over HTTP are covered by the request's duration. */
function spanOf(measure: Tracing, { operation, name, start, run, traceparent }: Timed) {
  const runTrace = run === undefined ? undefined : measure.traces.open.get(run);
  if (run === undefined || runTrace === undefined) return undefined;
  const above = parseTraceparent(traceparent) ?? runTrace.span.spanContext();
  const { origin } = runTrace;
  const span = measure.sdk.tracer.startSpan(
    `${spans.memory} ${operation}`,
    { startTime: origin.time(start), attributes: { [attributes.memoryStore]: name } },
    above,
  );
  return { span, origin, run };
}
