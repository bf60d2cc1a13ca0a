import { openaiRates } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { awaitRun, startRun, streamRun } from "venturi/plugin/channel";
import { ChatExtras, type ChatRun, chatCompletion } from "./chat-completion.ts";
import { chatWire } from "./chat-content.ts";
import { chatHeartbeat, chatProjection } from "./chat-projection.ts";
import { ChatRequest, isLegacy, toRunRequest } from "./chat-request.ts";
import { customNames } from "./chat-tools.ts";
import { failures, replyToFailure } from "./errors.ts";
import { withFiles } from "./files.ts";
import { withHeaders } from "./headers.ts";
import type { Options } from "./options.ts";

/** `POST /chat/completions`. */
export function mountChat(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Chat Completions; model is an agent", tags: ["openai"], body: ChatRequest };
  server.post("/chat/completions", { schema }, async (request, reply) => {
    const { body } = request;
    const messages = await withFiles(body.messages, () => host.runsFor(request), host.limits.body);
    const served = await startRun(
      { host, request, reply, channel: "openai", onDisconnect, compat, rates: openaiRates },
      withHeaders(toRunRequest({ ...body, messages }), chatWire, request.headers),
    );
    const chat: ChatRun = {
      run: served.run,
      model: body.model,
      includeUsage: body.stream_options?.include_usage === true,
      legacy: isLegacy(body),
      custom: customNames(body.tools ?? []),
    };
    if (body.stream) {
      await streamRun(served, chatProjection(chat), { ...failures, heartbeat: () => chatHeartbeat(chat) });
      return reply;
    }
    const extras = new ChatExtras();
    const last = await awaitRun(served, extras.add);
    if (last === undefined) return reply;
    if (last.type === "run.failed") return replyToFailure(reply, last.error);
    return reply.send(chatCompletion(chat, last, extras));
  });
}
