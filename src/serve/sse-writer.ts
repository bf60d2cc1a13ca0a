import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { VenturiError } from "../core/errors/errors.ts";
import { type Clock, systemClock } from "../core/ports/clock.ts";
import type { Account, Charge } from "../core/ports/held.ts";
import { polled } from "../core/ports/polled-stream.ts";
import { encodeEvent } from "../core/run/encode-event.ts";
import type { RunEvent } from "../core/run/events.ts";
import { asTrace } from "./run-trace.ts";
import { StallWatch } from "./stall-watch.ts";
import { warningsHeader, warningsText } from "./warnings.ts";

/** What the writer needs of a Fastify reply. */
export interface SseReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Record<string, string | number | string[] | undefined>;
}

export interface WriterOptions {
  readonly clock?: Clock;
  readonly hold?: number;
  /** Written after `keepAlive` ms of inactivity. */
  readonly heartbeat?: () => string;
}

export interface ReaderLimits {
  readonly slowReader: number;
  readonly keepAlive: number;
  readonly stalled: number;
  /** The memory account charged for a single piece beyond `slowReader`, by Node's request object. */
  account?(request: unknown): Account;
}

/** A plain response in place of a stream. */
export interface PlainResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
}

/** A reader with this many pending bytes counts as slow. */
const slow = 16 * 1024;

/** How long headers wait for the first event, which has the run's trace id; then they are sent without it. */
const headerPatience = 500;

/**
 * A server-sent event stream on a hijacked reply. Buffers at most `slowReader` bytes; `write` returns a promise when the caller must wait
 * (backpressure). A reader that consumes nothing for `stalled` ms is disconnected. `gone` aborts when the reader left or was disconnected
 * before the end.
 */
export class SseWriter {
  readonly #response: ServerResponse;
  readonly #limits: ReaderLimits;
  readonly #clock: Clock;
  readonly #headers: OutgoingHttpHeaders;
  readonly #gone = new AbortController();
  readonly gone: AbortSignal = this.#gone.signal;
  /**
   * Chunked encoding is done here, since Node writes a chunk's length, text and end as separate buffers, a third more work per event.
   * HTTP/1.0 clients get no chunks.
   */
  readonly #framed: boolean;
  readonly #heartbeat: () => string;
  readonly #stall: StallWatch;
  #stopTimer: () => void;
  /** A quarter of the allowed buffer: a page of events already read for the reader takes memory too, both parsed and encoded. */
  readonly #highWaterMark: number;
  #overdraft: Charge | undefined;
  #lastWrite = 0;
  #drained: { promise: Promise<void>; resolve: () => void } | undefined;

  /** `hold`: how long the headers wait for the first event, ms. */
  constructor(
    reply: SseReply,
    limits: ReaderLimits,
    { clock = systemClock, hold = headerPatience, heartbeat = () => ": keep-alive\n\n" }: WriterOptions = {},
  ) {
    this.#response = reply.raw;
    this.#limits = limits;
    this.#highWaterMark = limits.slowReader / 4;
    this.#clock = clock;
    this.#heartbeat = heartbeat;
    this.#framed = reply.raw.useChunkedEncodingByDefault;
    this.#headers = {
      ...reply.getHeaders(),
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    };
    reply.hijack();
    this.#response.on("drain", this.#onDrain);
    this.#response.on("close", this.#onClose);
    this.#stall = new StallWatch(this.#response.req.socket, limits.stalled, () => this.destroy());
    this.#stopTimer = clock.after(hold, this.#onQuiet);
    if (this.#response.destroyed) this.#onClose();
  }

  /** Adds a header known only now; a no-op once the headers are sent. */
  header(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Undefined: continue. A promise: await it before writing more. */
  write(text: string): Promise<void> | undefined {
    if (this.#gone.signal.aborted) return undefined;
    if (!this.#response.headersSent) this.#open();
    this.#lastWrite = this.#clock.monotonic();
    const piece = this.#framed ? chunk(text) : text;
    // A queued string would be copied again when its turn comes; a Buffer is not, and lives outside the heap.
    const taken = this.#response.write(this.#response.writableLength < slow ? piece : Buffer.from(piece));
    // After an accepted write there is no drain event.
    if (taken || this.#response.writableLength <= this.#highWaterMark) return undefined;
    if (this.#response.writableLength > this.#limits.slowReader) this.#overdraw();
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  /** A single piece exceeds the buffer limit: charge it to the tenant's memory account, or disconnect the reader. */
  #overdraw(): void {
    if (this.#overdraft !== undefined) return;
    try {
      const account = this.#limits.account?.(this.#response.req);
      this.#overdraft = account?.charge(this.#response.writableLength, "reply");
    } catch {
      this.destroy(); // The reader can resume when there is room.
    }
  }

  end(text = ""): void {
    if (this.#gone.signal.aborted || this.#response.writableEnded) return;
    this.#open();
    this.#complete();
    this.#response.end(this.#framed ? `${text === "" ? "" : chunk(text)}0\r\n\r\n` : text);
  }

  /** Sends a plain response; false when the stream has begun. Headers derived from the events still apply. */
  refuse({ status, headers, body }: PlainResponse, events: readonly RunEvent[]): boolean {
    if (this.#response.headersSent || this.#gone.signal.aborted) return false;
    this.#complete();
    for (const event of events) this.note(event);
    const { "x-accel-buffering": _, ...own } = this.#headers;
    const type = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
    this.#response.writeHead(status, { ...own, ...type, ...headers });
    this.#response.end(JSON.stringify(body));
    return true;
  }

  /** Nothing follows: the reader may leave, but one that stalls is still noticed until it has taken everything. */
  #complete(): void {
    this.#stopTimer();
    this.#response.removeListener("close", this.#onClose);
    this.#response.once("close", () => {
      this.#stall.stop();
      this.#onDrain();
    });
  }

  /** Adds what the event contributes to the headers. */
  note(event: RunEvent): void {
    if (event.type === "run.started" && asTrace(event.trace) !== undefined)
      this.header("traceparent", event.trace ?? "");
    if (event.type === "round.started" && event.warnings) this.header(warningsHeader, warningsText(event.warnings));
  }

  /** Cuts the connection so that the reader resumes. */
  destroy(): void {
    this.#response.destroy();
  }

  /** Sends the headers now; the first event has nothing to add to them. */
  open(): void {
    this.#open();
    this.#response.flushHeaders();
    this.#lastWrite = this.#clock.monotonic();
  }

  #open(): void {
    if (this.#response.headersSent) return;
    if (!this.#framed) return void this.#response.writeHead(200, this.#headers);
    this.#response.writeHead(200, { ...this.#headers, "transfer-encoding": "chunked" });
    this.#response.chunkedEncoding = false;
  }

  readonly #onQuiet = (): void => {
    if (!this.#response.headersSent) this.open();
    const idle = this.#clock.monotonic() - this.#lastWrite;
    // No heartbeat while data is unread: it would hide a stalled reader.
    if (idle >= this.#limits.keepAlive && this.#response.writableLength === 0) this.write(this.#heartbeat());
    const next = Math.max(1, this.#limits.keepAlive - (this.#clock.monotonic() - this.#lastWrite));
    this.#stopTimer = this.#clock.after(next, this.#onQuiet);
  };

  readonly #onDrain = (): void => {
    this.#overdraft?.release();
    this.#overdraft = undefined;
    this.#drained?.resolve();
    this.#drained = undefined;
  };

  readonly #onClose = (): void => {
    this.#stopTimer();
    this.#stall.stop();
    this.#gone.abort(clientGone);
    this.#onDrain();
  };
}

/** Shared: every connection ends with it, and `abort()` without a reason would create an error with a stack each time. */
const clientGone = new VenturiError("run.response", "stream_interrupted", "the client is gone");

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Flush threshold within a batch, so that a large batch cannot exceed the limit by much. */
const piece = 64 * 1024;

/** Writes each batch in one call. Ends with the batches or when the reader is gone; `project` maps an event to the channel's wire. */
export async function writeBatches(
  batches: AsyncIterable<readonly RunEvent[]>,
  writer: SseWriter,
  project: (event: RunEvent) => string,
): Promise<void> {
  const stream = polled(batches);
  try {
    for (;;) {
      const step = stream.poll();
      if (step === undefined) await stream.arrival();
      else if (step.done) return;
      else {
        const full = writeBatch(step.value, writer, project);
        if (full !== undefined) await full;
      }
      if (writer.gone.aborted) return;
    }
  } finally {
    await stream.return();
  }
}

/** Undefined when there is nothing to await, as for most tokens. */
function writeBatch(
  batch: readonly RunEvent[],
  writer: SseWriter,
  project: (event: RunEvent) => string,
): Promise<void> | undefined {
  let text = "";
  for (let index = 0; index < batch.length; index++) {
    const event = batch[index] as RunEvent; // `index` is below the length.
    writer.note(event);
    text += project(event);
    if (text.length < piece) continue;
    const full = writer.write(text);
    text = "";
    if (full !== undefined) return full.then(() => writeBatch(batch.slice(index + 1), writer, project));
  }
  return text === "" ? undefined : writer.write(text);
}

/** The native wire: `id` is the seq, so that `Last-Event-ID` is the resume position. */
export const eventFrame = (event: RunEvent): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${encodeEvent(event)}\n\n`;

/** The native wire's heartbeat for a quiet run. No id: it is not a position to resume from. */
export const heartbeatFrame = (run: string): string =>
  `event: heartbeat\ndata: ${JSON.stringify({ type: "heartbeat", run, at: Date.now() })}\n\n`;

export const dataFrame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
