import type { IncomingHttpHeaders } from "node:http";
import type { ChannelHost } from "../core/channel.ts";
import { type ErrorJson, type VenturiError, wrap } from "../core/errors.ts";
import type { RunEvent, TerminalEvent } from "../core/events.ts";
import type { RunRequest } from "../core/journal.ts";
import type { Compat, Runs } from "../core/runs.ts";
import { traceHeadersOf } from "../core/trace-context.ts";
import { readerGone, terminalOf } from "./reader.ts";
import { type PlainResponse, type SseReply, SseWriter, writeBatches } from "./sse-writer.ts";
import { warningsHeader, warningsText } from "./warnings.ts";

/** What serving a run needs of a Fastify request and its reply. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
}
export interface HttpReply extends SseReply {
  header(name: string, value: string): unknown;
}

/** A run that a request started, on its way back to the client. */
export interface ServedRun {
  readonly host: Pick<ChannelHost, "limits" | "log">;
  readonly runs: Runs;
  readonly run: string;
  readonly reply: HttpReply;
  /** The channel's name, for the measurement of delivery. */
  readonly channel: string;
  readonly onDisconnect: "continue" | "cancel";
  /** Events after this seq; from the start when absent. */
  readonly after?: number;
  /** An event after which the stream ends though the run goes on. */
  readonly until?: (event: RunEvent) => boolean;
}

export interface Opening {
  readonly host: ChannelHost;
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly channel: string;
  readonly onDisconnect: "continue" | "cancel";
  /** What becomes of fields that cannot reach the model; reported when absent. */
  readonly compat?: Compat;
}

/** Starts a run for a request: in its trace, under its Idempotency-Key, and named in its response. */
export async function startRun(opening: Opening, request: RunRequest): Promise<ServedRun & { existing: boolean }> {
  const { host, reply, channel, onDisconnect, compat } = opening;
  const { headers } = opening.request;
  const runs = host.runsFor(opening.request);
  const key = headers["idempotency-key"];
  const { run, existing } = await runs.start(
    { ...request, onDisconnect, ...traceHeadersOf(headers) },
    { ...(typeof key === "string" && key !== "" ? { key } : {}), ...(compat === undefined ? {} : { compat }) },
  );
  reply.header("x-venturi-run", run);
  return { host, runs, run, reply, channel, onDisconnect, existing };
}

/** What a channel says in its own wire that no event of the run says. */
export interface StreamFrames {
  /** Told after each `keepAlive` ms of silence. It is no event of the run and has no seq. A comment when absent. */
  readonly heartbeat?: () => string;
  /** The events cannot be read on: the stream's last frame. Without it the stream is cut, so that a client can resume. */
  readonly failed?: (error: VenturiError) => string;
  /** The run failed before any of it was told: the response instead of a stream. Without it that is told in the stream. */
  readonly refused?: (error: ErrorJson) => PlainResponse;
}

/**
 * Writes the run as the channel's own wire. With `refused` the status waits for the first thing that the run tells, so that
 * a client sees a 429 as a 429; after a keep-alive's time of silence the stream begins all the same.
 */
export async function streamRun(
  served: ServedRun,
  project: (event: RunEvent) => string,
  { failed, refused, heartbeat }: StreamFrames = {},
): Promise<void> {
  const { host, runs, run, reply, channel } = served;
  const writer = new SseWriter(reply, host.limits, {
    ...(refused === undefined ? {} : { hold: host.limits.keepAlive }),
    ...(heartbeat === undefined ? {} : { heartbeat }),
  });
  try {
    const { after = 0, until } = served;
    const followed = runs.follow(run, { after, signal: writer.gone, channel });
    const batches = until === undefined ? followed : ending(followed, until);
    const told = refused === undefined ? batches : fromFirstTold(batches);
    await writeBatches(refused === undefined ? told : refusable(told, writer, refused), writer, project);
    writer.end();
  } catch (thrown) {
    const error = wrap("run.follow", thrown, "stream_error");
    host.log.warn("a stream was cut", { run, error: String(error) });
    if (refused !== undefined && writer.refuse(refused(error.toJSON()), [])) return;
    if (failed === undefined) writer.destroy();
    else writer.end(failed(error));
  }
  if (writer.gone.aborted) await clientLeft(served);
}

/** Events that come before a run has told anything. */
const preliminary: ReadonlySet<RunEvent["type"]> = new Set([
  "run.started",
  "round.started",
  "round.retracted",
  "generation.failed",
  "context.compacted",
  "message.added",
]);

/** The same events; those before the first that tells something come together with it. */
async function* fromFirstTold(batches: AsyncIterable<readonly RunEvent[]>): AsyncGenerator<readonly RunEvent[]> {
  let held: readonly RunEvent[] | undefined = [];
  for await (const batch of batches) {
    if (held === undefined) {
      yield batch;
      continue;
    }
    held = [...held, ...batch];
    if (held.every((event) => preliminary.has(event.type))) continue;
    yield held;
    held = undefined;
  }
  if (held !== undefined) yield held;
}

/** Ends with a plain response when all there is to tell is a failure, and the stream has not begun. */
async function* refusable(
  batches: AsyncIterable<readonly RunEvent[]>,
  writer: SseWriter,
  refused: (error: ErrorJson) => PlainResponse,
): AsyncGenerator<readonly RunEvent[]> {
  let first = true;
  for await (const batch of batches) {
    const told = first ? batch.find((event) => !preliminary.has(event.type)) : undefined;
    first = false;
    if (told?.type === "run.failed" && writer.refuse(refused(told.error), batch)) return;
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

/** The run's terminal event; undefined when the client left before it came. `watch` sees every event. */
export async function awaitRun(
  served: ServedRun,
  watch?: (event: RunEvent) => void,
): Promise<TerminalEvent | undefined> {
  const { runs, run, reply, channel } = served;
  const last = await terminalOf(noted(runs.follow(run, { signal: readerGone(reply.raw), channel }), reply, watch));
  if (last === undefined) await clientLeft(served);
  return last;
}

/** The run, with what its models were not told noted in the response's header. */
async function* noted(
  batches: AsyncIterable<readonly RunEvent[]>,
  reply: HttpReply,
  watch: ((event: RunEvent) => void) | undefined,
): AsyncGenerator<readonly RunEvent[]> {
  const fields = new Set<string>();
  for await (const batch of batches) {
    for (const event of batch) {
      watch?.(event);
      if (event.type !== "round.started" || event.warnings === undefined) continue;
      for (const field of event.warnings) fields.add(field);
      reply.header(warningsHeader, warningsText(fields));
    }
    yield batch;
  }
}

async function clientLeft({ runs, run, onDisconnect }: ServedRun): Promise<void> {
  if (onDisconnect === "cancel") await runs.cancel(run, "the client went away");
}
