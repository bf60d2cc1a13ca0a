import type { IncomingHttpHeaders } from "node:http";
import { type ErrorJson, messageOf, VenturiError, wrap } from "../core/errors/errors.ts";
import type { ChannelHost } from "../core/ports/channel.ts";
import { PolledStream, polled } from "../core/ports/polled-stream.ts";
import type { Compat, Runs } from "../core/ports/runs.ts";
import type { RunEvent, TerminalEvent } from "../core/run/events.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import { traceHeadersOf } from "../core/values/trace-context.ts";
import type { RateHeaders } from "./http-error.ts";
import { readerGone, terminalOf } from "./reader.ts";
import { keyOf } from "./request-key.ts";
import { asTrace, runTrace } from "./run-trace.ts";
import { type PlainResponse, type SseReply, SseWriter, writeBatches } from "./sse-writer.ts";
import { warningsHeader, warningsText } from "./warnings.ts";

type Batch = readonly RunEvent[];

/** What serving a run needs of a Fastify request and reply. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
}
export interface HttpReply extends SseReply {
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/** A run started by a request, to be served to the client. */
export interface ServedRun {
  readonly host: Pick<ChannelHost, "limits" | "log">;
  readonly runs: Runs;
  readonly run: string;
  readonly reply: HttpReply;
  /** The channel's name, for delivery metrics. */
  readonly channel: string;
  readonly onDisconnect: "continue" | "cancel";
  /** Events after this seq; from the start when absent. */
  readonly after?: number;
  /** Ends the stream after this event although the run continues. */
  readonly until?: (event: RunEvent) => boolean;
  /** The same request with its Idempotency-Key gets this run again. */
  readonly keyed?: boolean;
  /** Headers with the current limit of tokens per minute. */
  readonly rate?: () => Promise<Record<string, string>>;
  /** False: started by this request, so its first event is still to come. */
  readonly existing?: boolean;
}

export interface Opening {
  readonly host: ChannelHost;
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly channel: string;
  readonly onDisconnect: "continue" | "cancel";
  /** What to do about fields that cannot reach the model; default: report them. */
  readonly compat?: Compat;
  /** Formats rate limits for this API's clients. */
  readonly rates?: RateHeaders;
}

/** Starts a run for a request: joins its trace, uses its Idempotency-Key, and names the run in the response headers. */
export async function startRun(opening: Opening, request: RunRequest): Promise<ServedRun & { existing: boolean }> {
  const { host, reply, channel, onDisconnect, compat, rates } = opening;
  const { headers } = opening.request;
  const runs = host.runsFor(opening.request);
  const key = keyOf(opening.request, request.agent);
  const { run, existing } = await runs.start(
    { ...request, onDisconnect, ...traceHeadersOf(headers) },
    { ...key, ...(compat === undefined ? {} : { compat }) },
  );
  nameRun(reply, run);
  // A stream's headers do not wait for `round.started`, which has the complete list, so only fields dropped by the channel are listed.
  if (request.unsent !== undefined && request.unsent.length > 0)
    reply.header(warningsHeader, warningsText(request.unsent));
  const served = { host, runs, run, reply, channel, onDisconnect, existing, keyed: key.key !== undefined };
  const rate = rates && runs.tokenRate?.(run);
  if (rates === undefined || rate === undefined) return served;
  return {
    ...served,
    rate: async () => {
      // A failing header must not fail the answer.
      const state = await rate().catch((thrown: unknown) =>
        host.log.warn("the limit of tokens could not be read", { run, error: messageOf(thrown) }),
      );
      return state ? rates([state]) : {};
    },
  };
}

/** Names the run in the response headers. `traceparent` becomes the run's, once known, instead of the request's. */
export function nameRun(reply: Pick<HttpReply, "header" | "removeHeader">, run: string): void {
  reply.header("x-venturi-run", run);
  reply.removeHeader("traceparent");
}

/** Frames of the channel's wire that correspond to no event. */
export interface StreamFrames {
  /** Sent after each `keepAlive` ms of inactivity. Not an event, so it has no seq. Default: an SSE comment. */
  readonly heartbeat?: () => string;
  /** Final frame when the events cannot be read further. Without it the connection is cut, so that the client can resume. */
  readonly failed?: (error: VenturiError) => string;
  /** Plain response for a run that failed before any output. Without it the failure is reported in the stream. */
  readonly refused?: (error: ErrorJson) => PlainResponse;
}

/**
 * Streams the run in the channel's wire. With `refused`, the status line waits for the run's first output, so that a client
 * gets a 429 as a 429; after `firstOutput` ms the stream starts anyway.
 */
export async function streamRun(
  served: ServedRun,
  project: (event: RunEvent) => string,
  { failed, refused, heartbeat }: StreamFrames = {},
): Promise<void> {
  const { host, runs, run, reply, channel } = served;
  if (served.existing !== false) await traceExisting(served);
  const writer = new SseWriter(reply, host.limits, {
    ...(refused === undefined ? {} : { hold: host.limits.firstOutput }),
    ...(heartbeat === undefined ? {} : { heartbeat }),
  });
  const { after = 0, until } = served;
  let abandoned = false;
  // A resuming client may wait long for the next event, so send the headers now.
  if (after > 0 && refused === undefined) writer.open();
  try {
    const followed = runs.follow(run, { after, signal: writer.gone, channel });
    const told = served.rate === undefined ? followed : tellingRate(followed, served.rate, writer);
    const batches = polled(until === undefined ? told : ending(told, until));
    const refuse = (error: ErrorJson, events: Batch) => refused !== undefined && writer.refuse(refused(error), events);
    const note = (event: RunEvent) => writer.note(event);
    await writeBatches(
      refused === undefined ? batches : new FromFirstOutput(batches, { refuse, note }),
      writer,
      project,
    );
    writer.end();
  } catch (thrown) {
    const error = wrap("run.follow", thrown, "stream_error");
    host.log.warn("a stream was cut", { run, error: String(error) });
    // Before the response: once all have theirs, the journal is closed. If it fails, the run goes on without a reader.
    if ((refused !== undefined || failed !== undefined) && isLost(served, error))
      await clientLeft(served).catch(() => {});
    const isRefused = refused !== undefined && writer.refuse(refused(error.toJSON()), []);
    if (!isRefused && failed === undefined) writer.destroy();
    else if (!isRefused) writer.end(failed?.(error));
    abandoned = error.details?.retracted === true;
  }
  if (abandoned || writer.gone.aborted) await clientLeft(served);
}

/**
 * Thrown by the projection of a wire that cannot take a call back: its client would execute the retracted one, too. Nobody reads the rest of
 * such a run, so it ends as if the client had left.
 */
export const callRetracted = (): VenturiError =>
  new VenturiError("run.follow", "stream_error", "the model failed after a call of it had been sent; ask again", {
    details: { retracted: true },
  });

/** Events that precede a run's first output. */
const preliminary: ReadonlySet<RunEvent["type"]> = new Set([
  "run.started",
  "round.started",
  "round.retracted",
  "generation.failed",
  "context.compacted",
  "memory.recalled",
  "message.added",
]);

const isPreliminary = (event: RunEvent): boolean =>
  preliminary.has(event.type) || (event.type === "provider.activity" && event.kind === "response");

/**
 * Holds preliminary events back until the first event with output. A run that failed before any is refused with a plain
 * response, which ends the stream.
 */
class FromFirstOutput extends PolledStream<Batch> {
  readonly #batches: PolledStream<Batch>;
  readonly #refuse: (error: ErrorJson, events: Batch) => boolean;
  /** Called immediately: headers may be sent before the first output. */
  readonly #note: (event: RunEvent) => void;
  #held: Batch | undefined = [];

  constructor(
    batches: PolledStream<Batch>,
    on: { readonly refuse: (error: ErrorJson, events: Batch) => boolean; readonly note: (event: RunEvent) => void },
  ) {
    super();
    this.#batches = batches;
    this.#refuse = on.refuse;
    this.#note = on.note;
  }

  poll(): IteratorResult<Batch, undefined> | undefined {
    for (;;) {
      const step = this.#batches.poll();
      if (step === undefined || this.#held === undefined) return step;
      if (!step.done) step.value.forEach(this.#note);
      const held: Batch = step.done ? this.#held : [...this.#held, ...step.value];
      const output = held.find((event) => !isPreliminary(event));
      this.#held = output === undefined && !step.done ? held : undefined;
      if (this.#held !== undefined) continue;
      if (held.length === 0) return step;
      if (output?.type === "run.failed" && this.#refuse(output.error, held)) return { done: true, value: undefined };
      return { done: false, value: held };
    }
  }

  arrival(): Promise<void> {
    return this.#batches.arrival();
  }

  return(): Promise<IteratorResult<Batch, undefined>> {
    return this.#batches.return();
  }
}

/** A model is asked only after its tokens were reserved; from then on the limit's state is known. */
const isAsked = (event: RunEvent): boolean => event.type === "round.started" || !isPreliminary(event);

/** Holds events back from the first model request on until the rate limit headers are set. */
async function* tellingRate(
  batches: AsyncIterable<Batch>,
  rate: () => Promise<Record<string, string>>,
  writer: SseWriter,
): AsyncGenerator<Batch> {
  let told = false;
  for await (const batch of batches) {
    if (!told && batch.some(isAsked)) {
      told = true;
      for (const [name, value] of Object.entries(await rate())) writer.header(name, value);
    }
    yield batch;
  }
}

async function* ending(
  batches: AsyncIterable<readonly RunEvent[]>,
  until: (event: RunEvent) => boolean,
): AsyncGenerator<readonly RunEvent[]> {
  for await (const batch of batches) {
    const last = batch.findIndex(until);
    if (last >= 0) return yield batch.slice(0, last + 1);
    yield batch;
  }
}

/** The run's terminal event; undefined when the client disconnected first. `watch` sees every event. */
export async function awaitRun(
  served: ServedRun,
  watch?: (event: RunEvent) => void,
): Promise<TerminalEvent | undefined> {
  const { run, reply, channel } = served;
  const batches = noted(served.runs.follow(run, { signal: readerGone(reply.raw), channel }), reply, watch);
  const last = await terminalOf(batches).catch(async (thrown: unknown) => {
    if (isLost(served, thrown)) await clientLeft(served);
    throw thrown;
  });
  if (last === undefined) await clientLeft(served);
  else for (const [name, value] of Object.entries((await served.rate?.()) ?? {})) reply.header(name, value);
  return last;
}

/** Passes the batches through, adding the trace and unsent fields to the response headers. */
async function* noted(
  batches: AsyncIterable<readonly RunEvent[]>,
  reply: HttpReply,
  watch: ((event: RunEvent) => void) | undefined,
): AsyncGenerator<readonly RunEvent[]> {
  const fields = new Set<string>();
  for await (const batch of batches) {
    for (const event of batch) {
      watch?.(event);
      const trace = event.type === "run.started" ? asTrace(event.trace) : undefined;
      if (trace !== undefined) reply.header("traceparent", trace);
      if (event.type !== "round.started" || event.warnings === undefined) continue;
      for (const field of event.warnings) fields.add(field);
      reply.header(warningsHeader, warningsText(fields));
    }
    yield batch;
  }
}

/** Looks up the trace for a resumed run or a fork, whose reader may not see the event that contains it. */
async function traceExisting({ runs, run, reply, host }: ServedRun): Promise<void> {
  nameRun(reply, run);
  const trace = await runTrace(runs, run).catch((thrown: unknown) => {
    host.log.warn("the trace of a run could not be read", { run, error: messageOf(thrown) });
  });
  if (trace !== undefined) reply.header("traceparent", trace);
}

/** Whether a released run has lost its client: it got an error and cannot find this run again. */
const isLost = ({ keyed }: ServedRun, thrown: unknown): boolean =>
  keyed !== true && VenturiError.is(thrown, "shutting_down");

async function clientLeft({ runs, run, onDisconnect }: ServedRun): Promise<void> {
  if (onDisconnect === "cancel") await runs.cancel(run, "the client disconnected");
}
