import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { Options } from "./options.ts";

export default definePlugin({
  name: "channel-http",
  kind: "channel",
  description: "The native HTTP API: runs as server-sent events",
  options: Options,
  create: (options, { resolve }): Channel<FastifyInstance> => ({
    mount: async (host) => (await import("./mount.ts")).mount(host, { options, resolve }),
  }),
});
