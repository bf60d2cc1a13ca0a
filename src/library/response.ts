import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Runs } from "../core/ports/runs.ts";
import type { RunEvent } from "../core/run/events.ts";
import type { ProjectedRun, Projection } from "../core/run/projection.ts";
import { eventFrame, heartbeatFrame } from "../serve/sse-writer.ts";
import { batches } from "./reading.ts";
import type { ResponseFormat, ResponseOptions } from "./run.ts";

export interface Served {
  readonly runs: Runs;
  /** Idle time after which a heartbeat is sent, ms. */
  readonly keepAlive: number;
  /** How a channel plugin projects a run to its wire. */
  projection(plugin: string, run: ProjectedRun): Promise<Projection>;
}

const sse = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** The default depends on the client: one that can resume leaves the run alone when its connection breaks. */
const formats: Readonly<
  Record<
    ResponseFormat,
    {
      readonly headers: Readonly<Record<string, string>>;
      readonly onDisconnect: "continue" | "cancel";
      readonly plugin?: string;
    }
  >
> = {
  events: { headers: sse, onDisconnect: "continue" },
  text: { headers: { ...sse, "content-type": "text/plain; charset=utf-8" }, onDisconnect: "cancel" },
  "ai-sdk": {
    headers: { ...sse, "x-vercel-ai-ui-message-stream": "v1" },
    onDisconnect: "continue",
    plugin: "channel-ai-sdk",
  },
  openai: { headers: sse, onDisconnect: "cancel", plugin: "channel-openai" },
  "ag-ui": { headers: sse, onDisconnect: "cancel", plugin: "channel-ag-ui" },
};

/** A run as a web response. Its body is read from the journal at the reader's pace. */
export function runResponse(run: ProjectedRun, options: ResponseOptions, served: Served): Response {
  const { as = "events" } = options;
  const format = Object.hasOwn(formats, as) ? formats[as] : undefined;
  if (format === undefined) {
    const known = Object.keys(formats).join(", ");
    throw new VenturiError("run.response", "invalid_input", `as: "${String(as)}" is none of ${known}`);
  }
  const headers = new Headers(options.headers);
  for (const [name, value] of Object.entries({ ...format.headers, "x-venturi-run": run.run })) headers.set(name, value);
  const project = (): Promise<Projection> | Projection => {
    if (format.plugin !== undefined) return served.projection(format.plugin, run);
    return as === "text" ? plainText : { project: eventFrame, heartbeat: () => heartbeatFrame(run.run) };
  };
  const { onDisconnect = format.onDisconnect } = options;
  const body = new RunBody(run.run, served, { after: afterOf(options), onDisconnect, project });
  return new Response(body.stream, { headers });
}

/** An exception instead of an error frame: a cut text must not look complete. */
const plainText: Projection = {
  project(event) {
    if (event.type === "run.failed") throw new VenturiError("run.response", event.error.code, event.error.err);
    return event.type === "text.delta" || event.type === "refusal.delta" ? event.text : "";
  },
};

function afterOf({ after, request }: ResponseOptions): number {
  if (after !== undefined) return after;
  const last = Number(request?.headers.get("last-event-id") ?? 0);
  return Number.isSafeInteger(last) && last > 0 ? last : 0;
}

interface BodyOptions {
  readonly after: number;
  readonly onDisconnect: "continue" | "cancel";
  project(): Promise<Projection> | Projection;
}

/** Pulls one batch of events at a time: an unread response holds no more than that. */
class RunBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #run: string;
  readonly #served: Served;
  readonly #options: BodyOptions;
  readonly #left = new AbortController();
  readonly #encoder = new TextEncoder();
  #source: AsyncGenerator<readonly RunEvent[]> | undefined;
  #projection: Projection | undefined;
  #beat: NodeJS.Timeout | undefined;
  /** The reader is waiting for data. */
  #pulling = false;

  constructor(run: string, served: Served, options: BodyOptions) {
    this.#run = run;
    this.#served = served;
    this.#options = options;
    this.stream = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#cancel() },
      { highWaterMark: 0 },
    );
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const send = (text: string) => controller.enqueue(this.#encoder.encode(text));
    this.#pulling = true;
    try {
      this.#projection ??= await this.#options.project();
      const projection = this.#projection;
      this.#source ??= batches(this.#served.runs, this.#run, { after: this.#options.after, signal: this.#left.signal });
      this.#beat ??= this.#beating(projection, send);
      for (;;) {
        const { value: batch, done } = await this.#source.next();
        if (done) return this.#end(controller);
        const last = batch.findIndex((event) => projection.until?.(event) === true);
        let text = "";
        for (const event of last < 0 ? batch : batch.slice(0, last + 1)) text += projection.project(event);
        if (text !== "") send(text);
        if (last >= 0) return this.#end(controller);
        if (text !== "") return void this.#beat?.refresh();
      }
    } catch (thrown) {
      this.#fail(controller, thrown);
    } finally {
      this.#pulling = false;
    }
  }

  #beating(projection: Projection, send: (text: string) => void): NodeJS.Timeout | undefined {
    const heartbeat = projection.heartbeat?.bind(projection);
    if (heartbeat === undefined) return undefined;
    const timer = setInterval(() => {
      if (this.#pulling) send(heartbeat()); // Never queued behind unread data.
    }, this.#served.keepAlive);
    return timer.unref();
  }

  #end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    clearInterval(this.#beat);
    void this.#source?.return(undefined);
    controller.close();
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, thrown: unknown): void {
    clearInterval(this.#beat);
    if (this.#left.signal.aborted) return;
    const error = wrap("run.response", thrown, "stream_error");
    const frame = this.#projection?.failed?.(error);
    if (frame === undefined) return controller.error(error);
    controller.enqueue(this.#encoder.encode(frame));
    controller.close();
  }

  async #cancel(): Promise<void> {
    clearInterval(this.#beat);
    this.#left.abort();
    await this.#source?.return(undefined).catch(() => {}); // It ends with the abort.
    if (this.#options.onDisconnect === "cancel") await this.#served.runs.cancel(this.#run, "the client went away");
  }
}
