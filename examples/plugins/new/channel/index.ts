import { type Channel, definePlugin, type RunEvent, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { startRun, streamRun } from "venturi/plugin/channel";
import { z } from "zod";

/** POST a question; the answer comes as server-sent events, {"say"} for each piece of text and {"error"} for a failure. */
export default definePlugin({
  name: "my-plugin",
  kind: "channel",
  description: "Answers in small events",
  options: z.strictObject({
    path: z.string().startsWith("/").default("/my-plugin").describe("Where it is mounted."),
    onDisconnect: z
      .enum(["continue", "cancel"])
      .default("cancel")
      .describe("What happens to a run when its client disconnects."),
  }),
  create: ({ path, onDisconnect }): Channel<FastifyInstance> => ({
    mount(host) {
      const schema = { body: z.strictObject({ agent: z.string(), text: z.string() }) };
      host.server.withTypeProvider<ZodRoutes>().post(path, { schema }, async (request, reply) => {
        const { agent, text } = request.body;
        // Permissions, limits, traces and idempotency keys are kept in there.
        const served = await startRun(
          { host, request, reply, channel: "my-plugin", onDisconnect },
          { agent, input: { text } },
        );
        await streamRun(served, project, { failed: (error) => line({ error: error.message }) });
      });
    },
  }),
});

/** A channel is a projection of the run's events; what it has no word for is left out. */
function project(event: RunEvent): string {
  if (event.type === "text.delta") return line({ say: event.text });
  return event.type === "run.failed" ? line({ error: event.error.err }) : "";
}

const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
