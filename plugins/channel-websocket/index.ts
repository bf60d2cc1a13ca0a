import { type Channel, definePlugin, type FastifyInstance, type Voice } from "venturi/plugin";
import { z } from "zod";
import { Connection } from "./connection.ts";

export const Options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/ws")
    .describe("where sockets connect"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("continue")
    .describe("what becomes of the runs that a socket started when it goes away"),
  messagesPerSecond: z
    .number()
    .int()
    .positive()
    .default(50)
    .describe("messages and pings of one socket that are read in a second; what comes faster waits"),
  subscriptions: z.number().int().positive().default(64).describe("most runs followed on one socket"),
});
/** A channel that is built upon this one brings a voice. */
export type Options = z.output<typeof Options> & { readonly voice?: Voice };

export default definePlugin({
  name: "channel-websocket",
  kind: "channel",
  description: "Several runs on one socket, resumable, as deltas or as whole sentences",
  options: Options,
  create: (options: Options): Channel<FastifyInstance> => ({
    mount(host) {
      const schema = { summary: "Runs over a WebSocket", tags: ["websocket"] };
      host.server.get(options.path, { websocket: true, schema }, (socket, request) => {
        new Connection(socket, { host, request, options });
      });
    },
  }),
});
