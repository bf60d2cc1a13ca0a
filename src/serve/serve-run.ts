import type { IncomingHttpHeaders } from "node:http";
import type { ChannelHost } from "../core/channel.ts";
import { type VenturiError, wrap } from "../core/errors.ts";
import type { RunEvent, TerminalEvent } from "../core/events.ts";
import type { RunRequest } from "../core/journal.ts";
import type { Compat, Runs } from "../core/runs.ts";
import { traceparentOf } from "../core/trace-context.ts";
import { readerGone, terminalOf } from "./reader.ts";
import { type SseReply, SseWriter, writeBatches } from "./sse-writer.ts";
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
  const traceparent = traceparentOf(headers.traceparent);
  const key = headers["idempotency-key"];
  const { run, existing } = await runs.start(
    { ...request, onDisconnect, ...(traceparent === undefined ? {} : { traceparent }) },
    { ...(typeof key === "string" && key !== "" ? { key } : {}), ...(compat === undefined ? {} : { compat }) },
  );
  reply.header("x-venturi-run", run);
  return { host, runs, run, reply, channel, onDisconnect, existing };
}

/**
 * Writes the run as the channel's own wire. When the events cannot be read on, `failed` says so in that wire; without it the
 * stream is cut, which makes a client that can resume do so.
 */
export async function streamRun(
  served: ServedRun,
  project: (event: RunEvent) => string,
  failed?: (error: VenturiError) => string,
): Promise<void> {
  const { host, runs, run, reply, channel } = served;
  const writer = new SseWriter(reply, host.limits);
  try {
    const { after = 0, until } = served;
    const batches = runs.follow(run, { after, signal: writer.gone, channel });
    await writeBatches(until === undefined ? batches : ending(batches, until), writer, project);
    writer.end();
  } catch (thrown) {
    const error = wrap("run.follow", thrown, "stream_error");
    host.log.warn("a stream was cut", { run, error: String(error) });
    if (failed === undefined) writer.destroy();
    else writer.end(failed(error));
  }
  if (writer.gone.aborted) await clientLeft(served);
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

/** The run's terminal event; undefined when the client left before it came. */
export async function awaitRun(served: ServedRun): Promise<TerminalEvent | undefined> {
  const { runs, run, reply, channel } = served;
  const last = await terminalOf(noted(runs.follow(run, { signal: readerGone(reply.raw), channel }), reply));
  if (last === undefined) await clientLeft(served);
  return last;
}

/** The run, with what its models were not told noted in the response's header. */
async function* noted(
  batches: AsyncIterable<readonly RunEvent[]>,
  reply: HttpReply,
): AsyncGenerator<readonly RunEvent[]> {
  const fields = new Set<string>();
  for await (const batch of batches) {
    for (const event of batch) {
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
