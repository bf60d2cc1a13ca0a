import { openaiRates } from "venturi/internal";
import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { mountChat } from "./chat.ts";
import { chatHeartbeat, chatProjection } from "./chat-projection.ts";
import { mountCompletions } from "./completions.ts";
import { mountConversations } from "./conversations.ts";
import { mountEmbeddings } from "./embeddings.ts";
import { failedFrame, replyWithErrors } from "./errors.ts";
import { mountFiles } from "./files.ts";
import { mountModels } from "./models.ts";
import { Options } from "./options.ts";
import { mountInputTokens, mountResponses } from "./responses.ts";
import { mountStored } from "./responses-stored.ts";

export default definePlugin({
  name: "channel-openai",
  kind: "channel",
  description: "Chat Completions and Responses for OpenAI's client libraries; `model` is the agent's name",
  options: Options,
  projection: ({ run, agent }) => {
    const chat = { run, model: agent, includeUsage: true, legacy: false, custom: new Set<string>() };
    return { project: chatProjection(chat), heartbeat: () => chatHeartbeat(chat), failed: failedFrame };
  },
  create: (options): Channel<FastifyInstance> => ({
    async mount(host) {
      await host.server.register(
        async (server) => {
          replyWithErrors(server);
          server.addHook("preHandler", async (request, reply) => {
            const rate = host.requestRate?.(request);
            if (rate !== undefined) reply.headers(openaiRates([rate]));
          });
          mountChat({ ...host, server }, options);
          mountResponses({ ...host, server }, options);
          mountInputTokens({ ...host, server });
          mountStored({ ...host, server });
          mountConversations({ ...host, server });
          mountCompletions({ ...host, server }, options);
          mountEmbeddings({ ...host, server }, options);
          mountModels({ ...host, server });
          mountFiles({ ...host, server });
        },
        { prefix: options.prefix },
      );
    },
  }),
});
