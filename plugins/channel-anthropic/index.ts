import type { IncomingHttpHeaders } from "node:http";
import {
  awaitRun,
  type Channel,
  type ChannelHost,
  definePlugin,
  type FastifyInstance,
  startRun,
  streamRun,
  type ZodRoutes,
} from "venturi/plugin";
import { z } from "zod";
import { failureFrame, failureResponse, replyToFailure, replyWithErrors } from "./errors.ts";
import { MessageProjection, wholeMessage } from "./projection.ts";
import { MessagesRequest, toRunRequest } from "./request.ts";

const Options = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/anthropic")
    .describe("where the API is mounted"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("cancel")
    .describe("what becomes of a run when its client goes away; Anthropic's clients expect cancel"),
  compat: z
    .enum(["report", "strict"])
    .default("report")
    .describe("what becomes of fields that cannot reach the model: named in `venturi-warnings`, or refused with 400"),
});
type Options = z.output<typeof Options>;

export default definePlugin({
  name: "channel-anthropic",
  kind: "channel",
  description: "Anthropic's Messages API for its client libraries; `model` is the agent's name",
  options: Options,
  create: (options): Channel<FastifyInstance> => ({
    async mount(host) {
      await host.server.register(
        async (server) => {
          replyWithErrors(server);
          mountMessages({ ...host, server }, options);
          mountModels({ ...host, server });
        },
        { prefix: options.prefix },
      );
    },
  }),
});

function mountMessages(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Messages; model is an agent", tags: ["anthropic"], body: MessagesRequest };
  server.post("/v1/messages", { schema }, async (request, reply) => {
    const { body } = request;
    const served = await startRun(
      { host, request, reply, channel: "anthropic", onDisconnect, compat },
      toRunRequest(body, { beta: betaOf(request.headers) }),
    );
    reply.header("request-id", served.run);
    const message = { run: served.run, model: body.model };
    if (body.stream) {
      await streamRun(served, new MessageProjection(message).project, {
        failed: failureFrame,
        refused: failureResponse,
        heartbeat: () => 'event: ping\ndata: {"type":"ping"}\n\n',
      });
      return reply;
    }
    const last = await awaitRun(served);
    if (last === undefined) return reply;
    return last.type === "run.finished" ? reply.send(wholeMessage(message, last)) : replyToFailure(reply, last.error);
  });
}

const betaOf = (headers: IncomingHttpHeaders): string | undefined => {
  const beta = headers["anthropic-beta"];
  return Array.isArray(beta) ? beta.join(",") : beta;
};

function mountModels(host: ChannelHost<FastifyInstance>): void {
  const schema = { summary: "The agents, as models", tags: ["anthropic"] };
  host.server.get("/v1/models", { schema }, async (request) => {
    const data = host
      .runsFor(request)
      .agents()
      .map(({ name }) => ({ type: "model", id: name, display_name: name, created_at: "1970-01-01T00:00:00Z" }));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  });
}
