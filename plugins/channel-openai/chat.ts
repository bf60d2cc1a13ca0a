import { awaitRun, type ChannelHost, type FastifyInstance, startRun, streamRun, type ZodRoutes } from "venturi/plugin";
import { chatCompletion, chatProjection } from "./chat-projection.ts";
import { ChatRequest, toRunRequest } from "./chat-request.ts";
import { failureFrame, replyToFailure } from "./errors.ts";
import type { Options } from "./index.ts";

/** `POST /chat/completions`. */
export function mountChat(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Chat Completions; model is an agent", tags: ["openai"], body: ChatRequest };
  server.post("/chat/completions", { schema }, async (request, reply) => {
    const { body } = request;
    const served = await startRun(
      { host, request, reply, channel: "openai", onDisconnect, compat },
      toRunRequest(body),
    );
    const chat = { run: served.run, model: body.model, includeUsage: body.stream_options?.include_usage === true };
    if (body.stream) {
      await streamRun(served, chatProjection(chat), failureFrame);
      return reply;
    }
    const last = await awaitRun(served);
    if (last === undefined) return reply;
    return last.type === "run.finished" ? reply.send(chatCompletion(chat, last)) : replyToFailure(reply, last.error);
  });
}
