import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { Connection } from "./connection.ts";
import { Options } from "./options.ts";

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
