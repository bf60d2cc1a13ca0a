import { type Channel, definePlugin, type FastifyInstance } from "venturi/plugin";
import { z } from "zod";
import { mountChat } from "./chat.ts";
import { mountCompletions } from "./completions.ts";
import { mountConversations } from "./conversations.ts";
import { mountEmbeddings } from "./embeddings.ts";
import { replyWithErrors } from "./errors.ts";
import { mountModels } from "./models.ts";
import { mountInputTokens, mountResponses } from "./responses.ts";
import { mountStored } from "./responses-stored.ts";

export const Options = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/openai/v1")
    .describe("where the API is mounted"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("cancel")
    .describe("what becomes of a run when its client goes away; OpenAI's clients expect cancel"),
  compat: z
    .enum(["report", "strict"])
    .default("report")
    .describe("fields that the agent's model cannot be told: named in venturi-warnings, or refused with 400"),
});
export type Options = z.output<typeof Options>;

export default definePlugin({
  name: "channel-openai",
  kind: "channel",
  description: "Chat Completions and Responses for OpenAI's client libraries; `model` is the agent's name",
  options: Options,
  create: (options): Channel<FastifyInstance> => ({
    async mount(host) {
      await host.server.register(
        async (server) => {
          replyWithErrors(server);
          mountChat({ ...host, server }, options);
          mountResponses({ ...host, server }, options);
          mountInputTokens({ ...host, server });
          mountStored({ ...host, server });
          mountConversations({ ...host, server });
          mountCompletions({ ...host, server }, options);
          mountEmbeddings({ ...host, server }, options);
          mountModels({ ...host, server });
        },
        { prefix: options.prefix },
      );
    },
  }),
});
