import { openaiRates } from "venturi/internal";
import type { ChannelHost } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { mountChat } from "./chat.ts";
import { mountCompletions } from "./completions.ts";
import { mountConversations } from "./conversations.ts";
import { mountEmbeddings } from "./embeddings.ts";
import { replyWithErrors } from "./errors.ts";
import { mountFiles } from "./files.ts";
import { mountModels } from "./models.ts";
import type { Options } from "./options.ts";
import { mountInputTokens, mountResponses } from "./responses.ts";
import { mountStored } from "./responses-stored.ts";

/** Loaded when the service listens: other commands need the options alone. */
export async function mount(host: ChannelHost<FastifyInstance>, options: Options): Promise<void> {
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
}
