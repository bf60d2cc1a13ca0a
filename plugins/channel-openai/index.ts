import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { chatHeartbeat, chatProjection } from "./chat-projection.ts";
import { failedFrame } from "./errors.ts";
import { Options } from "./options.ts";

export default definePlugin({
  name: "channel-openai",
  kind: "channel",
  description: "Chat Completions and Responses for OpenAI's client libraries; `model` is the agent's name",
  options: Options,
  projection: ({ run, agent }) => {
    const chat = { run, model: agent, includeUsage: true, legacy: false, custom: new Set<string>() };
    return { project: chatProjection(chat), heartbeat: () => chatHeartbeat(chat), failed: failedFrame };
  },
  create: (options): Channel<FastifyInstance> => ({
    mount: async (host) => (await import("./mount.ts")).mount(host, options),
  }),
});
