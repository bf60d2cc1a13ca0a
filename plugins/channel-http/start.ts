import { callRequest, callSettings, fromJson, named, RunEvent } from "venturi/internal";
import type { ChannelHost, Opening, RunRequest, ServedRun, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance, FastifyRequest } from "venturi/plugin/channel";
import { awaitRun, eventFrame, heartbeatFrame, RunInput, startRun, streamRun } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import type { Options } from "./options.ts";
import { ending, Failure, RunView } from "./view.ts";

const StartBody = z.strictObject({
  agent: z.string().min(1).describe("the agent's name"),
  input: z.union([z.string(), RunInput]).describe("a text, or text, messages and variables"),
  session: z.string().min(1).max(256).optional().describe("the conversation this run goes on"),
  metadata: z.record(z.string(), z.unknown()).optional(),
  limits: z.record(z.string(), z.unknown()).optional().describe("tighter limits than the agent's own"),
  notify: z
    .strictObject({ webhook: z.string(), url: z.url().exactOptional() })
    .optional()
    .describe("webhook to notify about this run, at another URL if its configuration allows that host"),
  ...callSettings,
});
named("StartRequest", StartBody);
type StartBody = z.output<typeof StartBody>;

/** `POST /v1/runs`: a stream if the client accepts one, 202 if it does not want to wait, else the complete result. */
export function mountStart(host: ChannelHost<FastifyInstance>, options: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.post("/v1/runs", { schema }, async (request, reply) => {
    const served = await start({ host, request, reply, channel: "http", ...options }, request.body);
    const { run } = served;
    if (wantsEvents(request)) {
      await streamRun(served, eventFrame, { heartbeat: () => heartbeatFrame(run) });
      return reply;
    }
    if (/\brespond-async\b/i.test(String(request.headers.prefer ?? ""))) {
      reply.code(202).header("location", `/v1/runs/${run}`).header("preference-applied", "respond-async");
      return reply.send({ run, status: "running" });
    }
    const last = await awaitRun(served);
    if (last === undefined) return reply;
    const status = last.type === "run.failed" ? fromJson(last.error).status : 200;
    return reply.code(status).send({ run, ...ending(last) });
  });
}

const schema = {
  summary: "Start a run",
  description:
    "Accept: text/event-stream gives its events; Prefer: respond-async answers 202 at once; otherwise waits for the end. " +
    "An Idempotency-Key makes a repeat find the same run.",
  tags: ["runs"],
  body: StartBody.meta({ examples: [examples.start, examples.startWithMessages] }),
  response: {
    200: {
      description: "The run and how it ended, or its events: `data` of each is one",
      content: {
        "application/json": { schema: RunView.meta({ examples: [examples.ended] }) },
        "text/event-stream": { schema: RunEvent },
      },
    },
    202: RunView,
    "4XX": Failure,
    "5XX": Failure,
  },
};

async function start(opening: Opening, body: StartBody): Promise<ServedRun> {
  const { agent, input, session, metadata, limits, notify, ...settings } = body;
  const request: RunRequest = {
    agent,
    input: typeof input === "string" ? { text: input } : input,
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(limits === undefined ? {} : { limits }),
    ...(notify === undefined ? {} : { notify }),
    ...callRequest(settings),
  };
  return await startRun(opening, request);
}

const wantsEvents = ({ headers }: FastifyRequest): boolean => (headers.accept ?? "").includes("text/event-stream");
