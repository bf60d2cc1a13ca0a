import { type Channel, definePlugin, VenturiError } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { Options } from "./options.ts";

export default definePlugin({
  name: "channel-websocket",
  kind: "channel",
  description: "Several runs on one socket, resumable, as deltas or as whole sentences",
  options: Options,
  create: (options: Options): Channel<FastifyInstance> => ({
    async mount(host) {
      const { Connection } = await import("./connection.ts");
      const schema = { summary: "Runs over a WebSocket", tags: ["websocket"] };
      host.server.route({
        method: "GET",
        url: options.path,
        schema,
        handler: () => {
          throw new VenturiError("socket.open", "invalid_input", "this is a WebSocket; connect to it as one");
        },
        wsHandler: (socket, request) => {
          new Connection(socket, { host, request, options });
        },
      });
    },
  }),
});
