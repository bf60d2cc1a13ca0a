import type { RunEvent } from "../../core/run/events.ts";
import { attributes, scope, spans } from "../../telemetry/base/names.ts";

interface SpanJson {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  endTimeUnixNano: string;
  readonly attributes: { key: string; value: Record<string, unknown> }[];
  status?: { code: number };
}

/**
 * Reconstructs a run's trace from its events as OTLP JSON, for runs whose spans are gone: run, rounds, generations and tools,
 * at millisecond resolution. Chunks and deliveries are not in the events.
 */
export function traceOfEvents(events: readonly RunEvent[]): unknown {
  const drawing = new Drawing(events);
  for (const event of events) drawing.take(event);
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: drawing.end() }] }] };
}

class Drawing {
  readonly #spans: SpanJson[] = [];
  readonly #open = new Map<string, SpanJson>();
  readonly #traceId: string;
  #at: number;

  constructor(events: readonly RunEvent[]) {
    const [first] = events;
    this.#at = first?.at ?? 0;
    this.#traceId = traceIdIn(first) ?? "0".repeat(32);
  }

  take(event: RunEvent): void {
    // A clock set back during the run must not end a span before its start.
    this.#at = Math.max(this.#at, event.at);
    switch (event.type) {
      case "run.started":
        return this.#start("run", undefined, `${spans.agent} ${event.agent}`);
      case "round.started":
        this.#close("chat", { failed: event.attempt > 1 });
        if (!this.#open.has(`round ${event.round}`)) this.#startRound(event.round);
        return this.#start("chat", `round ${event.round}`, `${spans.chat} ${event.model}`);
      case "generation.finished":
        return this.#close("chat");
      case "tool.started":
        return this.#start(`tool ${event.call}`, `round ${event.round}`, `${spans.tool} ${event.name}`);
      case "tool.finished":
        return this.#close(`tool ${event.call}`, { failed: !event.ok });
      case "generation.failed":
      case "round.retracted":
        return this.#close("chat", { failed: true });
      case "round.finished":
        return this.#close(`round ${event.round}`);
      case "run.finished":
      case "run.failed": {
        const run = this.#open.get("run");
        for (const [part, value] of Object.entries(event.timing)) {
          run?.attributes.push({ key: `${attributes.timing}.${part}`, value: { doubleValue: value } });
        }
        this.#close("chat", { failed: event.type === "run.failed" });
        return this.#close("run", { failed: event.type === "run.failed" });
      }
    }
  }

  /** Ends open spans at the last event. */
  end(): readonly SpanJson[] {
    for (const key of [...this.#open.keys()]) this.#close(key);
    return this.#spans;
  }

  #start(key: string, parent: string | undefined, name: string): void {
    const parentId = parent === undefined ? undefined : this.#open.get(parent)?.spanId;
    const span: SpanJson = {
      traceId: this.#traceId,
      spanId: (this.#spans.length + 1).toString(16).padStart(16, "0"),
      ...(parentId === undefined ? {} : { parentSpanId: parentId }),
      name,
      startTimeUnixNano: nanos(this.#at),
      endTimeUnixNano: nanos(this.#at),
      attributes: [],
    };
    this.#spans.push(span);
    this.#open.set(key, span);
  }

  #startRound(round: number): void {
    this.#start(`round ${round}`, "run", spans.round);
    const index = { key: attributes.roundIndex, value: { intValue: round } };
    this.#open.get(`round ${round}`)?.attributes.push(index);
  }

  #close(key: string, { failed = false } = {}): void {
    const span = this.#open.get(key);
    if (span === undefined) return;
    span.endTimeUnixNano = nanos(this.#at);
    if (failed) span.status = { code: 2 };
    this.#open.delete(key);
  }
}

const nanos = (ms: number): string => `${Math.round(ms)}000000`;

const traceIdIn = (event: RunEvent | undefined): string | undefined =>
  event?.type === "run.started" ? /^00-([0-9a-f]{32})-/.exec(event.trace ?? "")?.[1] : undefined;
