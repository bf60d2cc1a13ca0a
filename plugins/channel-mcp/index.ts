import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { mountCallback } from "./callback.ts";
import { mountMcp } from "./http.ts";
import { Options } from "./options.ts";
import { Published } from "./published.ts";

export default definePlugin({
  name: "channel-mcp",
  kind: "channel",
  description: "Model Context Protocol: agents as tools of other agents",
  options: Options,
  create: (options, context): Channel<FastifyInstance> => ({
    mount: (host) => {
      mountMcp(host, { ...options, published: new Published(options, context.folder) });
      mountCallback(host, options.prefix, context);
    },
  }),
});
