import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { mountA2a } from "./http.ts";
import { Options } from "./options.ts";

export default definePlugin({
  name: "channel-a2a",
  kind: "channel",
  description: "Agent2Agent: agents for other people's agents",
  options: Options,
  create: (options, context): Channel<FastifyInstance> => ({ mount: (host) => mountA2a(host, options, context) }),
});
