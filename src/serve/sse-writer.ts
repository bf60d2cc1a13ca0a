import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Clock, systemClock } from "../core/clock.ts";
import { encodeEvent, type RunEvent } from "../core/events.ts";
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
  /** What is written after `keepAlive` ms of silence. */
  readonly heartbeat?: () => string;
}

export interface ReaderLimits {
  readonly slowReader: number;
  readonly keepAlive: number;
  readonly stalled: number;
}

/** A whole response instead of a stream. */
export interface PlainResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
}

/** Headers wait this long for the first event, which knows the run's trace; then they go out without it. */
const headerPatience = 100;

/**
 * A server-sent event stream on a hijacked reply. At most `slowReader` bytes wait in memory for the reader: `write` answers
 * with a promise when its caller has to wait. A reader that takes nothing for `stalled` ms is cut off. `gone` aborts when
 * the reader has left or was cut off before the end.
 */
export class SseWriter {
  readonly #response: ServerResponse;
  readonly #limits: ReaderLimits;
  readonly #clock: Clock;
  readonly #headers: OutgoingHttpHeaders;
  readonly #gone = new AbortController();
  readonly gone: AbortSignal = this.#gone.signal;
  /**
   * Chunks are framed here: Node writes a chunk's length, text and end as separate buffers, which costs a third more per
   * event. A client of HTTP/1.0 gets no chunks.
   */
  readonly #framed: boolean;
  readonly #heartbeat: () => string;
  readonly #stall: StallWatch;
  #stopTimer: () => void;
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

  /** For a header that is known only now; without effect once the headers have gone out. */
  header(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Undefined: go on. A promise: wait for it before writing more. */
  write(text: string): Promise<void> | undefined {
    if (this.#gone.signal.aborted) return undefined;
    if (!this.#response.headersSent) this.#open();
    this.#lastWrite = this.#clock.monotonic();
    this.#response.write(this.#framed ? chunk(text) : text);
    if (this.#response.writableLength <= this.#limits.slowReader) return undefined;
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  end(text = ""): void {
    if (this.#gone.signal.aborted || this.#response.writableEnded) return;
    this.#open();
    this.#stopTimer();
    this.#response.removeListener("close", this.#onClose);
    this.#response.once("close", () => this.#stall.stop());
    this.#response.end(this.#framed ? `${text === "" ? "" : chunk(text)}0\r\n\r\n` : text);
  }

  /** Answers without a stream; false when that has begun. What the events say of the headers still counts. */
  refuse({ status, headers, body }: PlainResponse, events: readonly RunEvent[]): boolean {
    if (this.#response.headersSent || this.#gone.signal.aborted) return false;
    this.#stopTimer();
    this.#response.removeListener("close", this.#onClose);
    for (const event of events) this.note(event);
    const { "x-accel-buffering": _, ...own } = this.#headers;
    const type = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
    this.#response.writeHead(status, { ...own, ...type, ...headers });
    this.#response.end(JSON.stringify(body));
    return true;
  }

  /** What an event adds to the headers. */
  note(event: RunEvent): void {
    if (event.type === "run.started" && event.trace !== undefined) this.header("traceparent", event.trace);
    if (event.type === "round.started" && event.warnings) this.header(warningsHeader, warningsText(event.warnings));
  }

  /** Cuts the stream off: what follows is not known, and the reader is to resume. */
  destroy(): void {
    this.#response.destroy();
  }

  /** Sends the headers now, when the first event cannot add to them. */
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
    const silence = this.#clock.monotonic() - this.#lastWrite;
    // Nothing is added for a reader that still has something to take; that would hide that it has stalled.
    if (silence >= this.#limits.keepAlive && this.#response.writableLength === 0) this.write(this.#heartbeat());
    const next = Math.max(1, this.#limits.keepAlive - (this.#clock.monotonic() - this.#lastWrite));
    this.#stopTimer = this.#clock.after(next, this.#onQuiet);
  };

  readonly #onDrain = (): void => {
    this.#drained?.resolve();
    this.#drained = undefined;
  };

  readonly #onClose = (): void => {
    this.#stopTimer();
    this.#stall.stop();
    this.#gone.abort();
    this.#onDrain();
  };
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Text above this is written before the batch is done, so that a large batch cannot pass the limit by much. */
const piece = 64 * 1024;

/**
 * Writes what one batch gathered in one go. Ends when the batches do, or when the reader has gone; what `project` answers
 * for each event is the channel's own wire.
 */
export async function writeBatches(
  batches: AsyncIterable<readonly RunEvent[]>,
  writer: SseWriter,
  project: (event: RunEvent) => string,
): Promise<void> {
  for await (const batch of batches) {
    let text = "";
    for (const event of batch) {
      writer.note(event);
      text += project(event);
      if (text.length < piece) continue;
      const full = writer.write(text);
      text = "";
      if (full !== undefined) await full;
    }
    const full = text === "" ? undefined : writer.write(text);
    if (full !== undefined) await full;
    if (writer.gone.aborted) return;
  }
}

/** The native wire: `id` is the seq, so that `Last-Event-ID` is where to go on. */
export const eventFrame = (event: RunEvent): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${encodeEvent(event)}\n\n`;

/** The native wire's word of a run that is silent but under way. Without an id: it is no place to go on from. */
export const heartbeatFrame = (run: string): string =>
  `event: heartbeat\ndata: ${JSON.stringify({ type: "heartbeat", run, at: Date.now() })}\n\n`;

export const dataFrame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
