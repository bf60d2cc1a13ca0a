import { type Channel, definePlugin, type FastifyInstance } from "venturi/plugin";
import { mountMcp } from "./http.ts";
import { Options } from "./options.ts";

export default definePlugin({
  name: "channel-mcp",
  kind: "channel",
  description: "Model Context Protocol: agents as tools of other agents",
  options: Options,
  create: (options): Channel<FastifyInstance> => ({ mount: (host) => mountMcp(host, options) }),
});
