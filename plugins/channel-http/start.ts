import {
  type ChannelHost,
  eventFrame,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fromJson,
  RunInput,
  type RunRequest,
  type Runs,
  readerGone,
  SseWriter,
  terminalOf,
  traceparentOf,
  VenturiError,
  writeBatches,
  type ZodRoutes,
} from "venturi/plugin";
import { z } from "zod";
import type { Options } from "./index.ts";
import { ending, Failure, RunView } from "./view.ts";

const op = "run.start";

const StartBody = z.strictObject({
  agent: z.string().min(1).describe("the agent's name"),
  input: z.union([z.string(), RunInput]).describe("a text, or text, messages and variables"),
  session: z.string().min(1).max(256).optional().describe("the conversation this run goes on"),
  metadata: z.record(z.string(), z.unknown()).optional(),
  limits: z.record(z.string(), z.unknown()).optional().describe("tighter limits than the agent's own"),
});
type StartBody = z.output<typeof StartBody>;

/** `POST /v1/runs`: events when the client accepts them, 202 when it does not want to wait, the whole result otherwise. */
export function mountStart(host: ChannelHost<FastifyInstance>, options: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.post("/v1/runs", { schema }, async (request, reply) => {
    const runs = host.runsFor(request);
    const { run } = await start(runs, request.body, request);
    reply.header("x-venturi-run", run);
    if (wantsEvents(request)) return await stream(host, { runs, run, reply, options });
    if (/\brespond-async\b/i.test(String(request.headers.prefer ?? ""))) {
      return reply.code(202).header("location", `/v1/runs/${run}`).header("preference-applied", "respond-async").send({
        run,
        status: "running",
      });
    }
    return await wait({ runs, run, reply, options });
  });
}

const schema = {
  summary: "Start a run",
  description:
    "Accept: text/event-stream gives its events; Prefer: respond-async answers 202 at once; otherwise waits for the end. " +
    "An Idempotency-Key makes a repeat find the same run.",
  tags: ["runs"],
  body: StartBody,
  response: { 200: RunView, 202: RunView, "4XX": Failure, "5XX": Failure },
};

async function start(runs: Runs, body: StartBody, { headers }: FastifyRequest): Promise<{ run: string }> {
  const traceparent = traceparentOf(headers.traceparent);
  const { session, metadata, limits } = body;
  const request: RunRequest = {
    agent: body.agent,
    input: typeof body.input === "string" ? { text: body.input } : body.input,
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(limits === undefined ? {} : { limits }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  const key = headers["idempotency-key"];
  if (key === undefined) return await runs.start(request);
  if (typeof key !== "string" || key === "" || key.length > 256) {
    throw new VenturiError(op, "invalid_input", "an Idempotency-Key has 1 to 256 characters");
  }
  const started = await runs.start(request, { key });
  if (started.existing) await sameRequest(runs, started.run, request);
  return started;
}

/** A key that comes again with something else to do is a mistake of the client, and running neither is the safe answer. */
async function sameRequest(runs: Runs, run: string, request: RunRequest): Promise<void> {
  const { request: first } = await runs.get(run);
  if (first.agent === request.agent && JSON.stringify(first.input) === JSON.stringify(request.input)) return;
  throw new VenturiError(op, "conflict", "this Idempotency-Key was used for a different request", { details: { run } });
}

const wantsEvents = ({ headers }: FastifyRequest): boolean => (headers.accept ?? "").includes("text/event-stream");

interface Started {
  readonly runs: Runs;
  readonly run: string;
  readonly reply: FastifyReply;
  readonly options: Options;
}

async function stream(
  host: ChannelHost<FastifyInstance>,
  { runs, run, reply, options }: Started,
): Promise<FastifyReply> {
  const writer = new SseWriter(reply, host.limits);
  try {
    await writeBatches(runs.follow(run, { signal: writer.gone, channel: "http" }), writer, eventFrame);
    writer.end();
  } catch (thrown) {
    // The run goes on; cutting the stream makes the client resume where it was.
    host.log.warn("a stream was cut", { run, error: String(thrown) });
    writer.destroy();
  }
  if (writer.gone.aborted && options.onDisconnect === "cancel") await runs.cancel(run, "the client went away");
  return reply;
}

async function wait({ runs, run, reply, options }: Started): Promise<FastifyReply> {
  const gone = readerGone(reply.raw);
  const last = await terminalOf(runs.follow(run, { signal: gone, channel: "http" }));
  if (last === undefined) {
    if (options.onDisconnect === "cancel") await runs.cancel(run, "the client went away");
    return reply;
  }
  const status = last.type === "run.failed" ? fromJson(last.error).status : 200;
  return reply.code(status).send({ run, ...ending(last) });
}
