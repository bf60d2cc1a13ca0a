import { isAsked, mustBeOfOneRun, newestWith } from "venturi/internal";
import {
  type Channel,
  type ChannelHost,
  definePlugin,
  type RunEvent,
  type ServedRun,
  type ZodRoutes,
} from "venturi/plugin";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "venturi/plugin/channel";
import { channelOptions, startRun, streamRun } from "venturi/plugin/channel";
import { z } from "zod";
import { type Approval, approvalsIn } from "./approvals.ts";
import { ChatBody, toMessages, unsentOf } from "./messages.ts";
import { failureFrame, heartbeatFrame, UiProjection } from "./projection.ts";

const Options = channelOptions({
  prefix: "/ai-sdk",
  onDisconnect: "continue",
  expected: "`continue` lets useChat resume it",
});
type Options = z.output<typeof Options>;

export default definePlugin({
  name: "channel-ai-sdk",
  kind: "channel",
  description: "The AI SDK's UI message stream, for useChat",
  options: Options,
  projection: ({ run }) => ({
    project: new UiProjection(run).project,
    heartbeat: heartbeatFrame,
    failed: failureFrame,
    until: isAsked,
  }),
  create: (options): Channel<FastifyInstance> => ({
    mount(host) {
      mountChat(host, options);
      mountResume(host, options);
    },
  }),
});

function mountChat(host: ChannelHost<FastifyInstance>, { prefix, onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = {
    summary: "An AI SDK chat with an agent",
    tags: ["ai-sdk"],
    params: z.object({ agent: z.string() }),
    body: ChatBody,
  };
  server.post(`${prefix}/:agent`, { schema }, async (request, reply) => {
    reply.header("x-vercel-ai-ui-message-stream", "v1");
    const { agent } = request.params;
    const { id, messages } = request.body;
    const opening = { host, request, reply, channel: "ai-sdk", onDisconnect, compat };
    const approvals = approvalsIn(messages);
    if (approvals.length > 0) {
      mustBeOfOneRun(approvals);
      const served = await goOn(host, { request, reply, onDisconnect, approvals });
      // The page has seen everything up to the last question it answers, including earlier ones of the step.
      await send(served, Math.max(...approvals.map(({ seq }) => seq)));
      return reply;
    }
    const metadata = { chat: id, caller: host.caller(request).id };
    const unsent = unsentOf(request.body);
    const asked = { agent, input: { messages: toMessages(messages) }, metadata, ...(unsent.length > 0 && { unsent }) };
    await send(await startRun(opening, asked), 0);
    return reply;
  });
}

/** Answers what the run waits for; the stream continues after the last question, and includes the answer of whoever was faster. */
async function goOn(
  host: ChannelHost<FastifyInstance>,
  {
    request,
    reply,
    onDisconnect,
    approvals,
  }: {
    request: FastifyRequest;
    reply: FastifyReply;
    onDisconnect: Options["onDisconnect"];
    approvals: readonly Approval[];
  },
): Promise<ServedRun> {
  const runs = host.runsFor(request);
  const by = host.caller(request).id;
  let run = "";
  for (const { call, approved, reason, answer, ...approval } of approvals) {
    run = approval.run;
    const said = { ...(reason === undefined ? {} : { reason }), ...(answer === undefined ? {} : { answer }) };
    const body = { call, approved, by, ...said };
    await runs.signal(run, "approve", body, `approve:${call}`);
  }
  reply.header("x-venturi-run", run);
  return { host, runs, run, reply, channel: "ai-sdk", onDisconnect };
}

/** `GET {prefix}/{agent}/{chat}/stream`: the chat's run from its start, or 204 when none is running. */
function mountResume(host: ChannelHost<FastifyInstance>, { prefix }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = {
    summary: "The stream of a chat's active run",
    tags: ["ai-sdk"],
    params: z.object({ agent: z.string(), chat: z.string() }),
  };
  server.get(`${prefix}/:agent/:chat/stream`, { schema }, async (request, reply) => {
    const { agent, chat } = request.params;
    const runs = host.runsFor(request);
    const row = await newestWith(runs, { chat, caller: host.caller(request).id }, { agent });
    if (row === undefined || row.state === "done") return reply.code(204).send();
    reply.header("x-vercel-ai-ui-message-stream", "v1").header("x-venturi-run", row.run);
    const open = new Set((await runs.pending(row.run)).map(({ call }) => call));
    // The stream begins with questions that were answered meanwhile and continues past them.
    const until = (event: RunEvent) => isAsked(event) && (event.seq > row.head || open.has(event.call));
    await send({ host, runs, run: row.run, reply, channel: "ai-sdk", onDisconnect: "continue" }, 0, until);
    return reply;
  });
}

/** A question ends the stream, since useChat answers with a new request; the run waits. */
async function send(served: ServedRun, after: number, until: (event: RunEvent) => boolean = isAsked): Promise<void> {
  const projection = new UiProjection(served.run, until);
  await streamRun({ ...served, after, until }, projection.project, {
    failed: failureFrame,
    heartbeat: heartbeatFrame,
  });
}
