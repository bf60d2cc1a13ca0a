import { type Channel, definePlugin, VenturiError } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { awaitRun, startRun } from "venturi/plugin/channel";
import { z } from "zod";

/** `curl -d "What time is it?" host/ask/assistant`: plain text in, plain text out. */
export default definePlugin({
  name: "plain-text",
  kind: "channel",
  description: "Answers plain text with plain text",
  options: z.strictObject({
    path: z.string().startsWith("/").default("/ask").describe("Where it is mounted."),
  }),
  create: (options): Channel<FastifyInstance> => ({
    async mount(host) {
      // A scope of its own: how this channel reads bodies is nobody else's business.
      await host.server.register(async (server) => {
        server.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
        server.post<{ Params: { agent: string } }>(`${options.path}/:agent`, async (request, reply) => {
          const text = z.string().min(1).safeParse(request.body);
          if (!text.success) throw new VenturiError("plain-text.read", "invalid_input", "send the question as text");
          // Keys, permissions and limits are kept by startRun; when the client leaves, so does the run.
          const opening = { host, request, reply, channel: "plain-text", onDisconnect: "cancel" as const };
          const served = await startRun(opening, { agent: request.params.agent, input: { text: text.data } });
          const last = await awaitRun(served);
          if (last === undefined) return reply;
          if (last.type === "run.failed") throw new VenturiError(last.error.op, last.error.code, last.error.err);
          return reply.type("text/plain; charset=utf-8").send(`${last.output}\n`);
        });
      });
    },
  }),
});
