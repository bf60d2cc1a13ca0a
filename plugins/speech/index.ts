import { type Channel, definePlugin, type Voice } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { EspeakOptions, espeakVoice } from "./espeak.ts";
import { OpenAiOptions, openAiVoice } from "./openai.ts";

const options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/speech")
    .describe("path of the WebSocket"),
  engine: z
    .discriminatedUnion("type", [EspeakOptions, OpenAiOptions])
    .default({ type: "espeak-ng", program: "espeak-ng", voice: "en", speed: 175, pitch: 50 })
    .describe("what turns text into audio"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("cancel")
    .describe("what happens to the runs that a socket started when it disconnects"),
  subscriptions: z.number().int().positive().default(64).describe("maximum runs followed per socket"),
});
type Options = z.output<typeof options>;

/** The WebSocket channel with a voice: the same, plus speech output. */
export default definePlugin({
  name: "speech",
  kind: "channel",
  description: "A WebSocket on which agents are heard: sentences as PCM audio, stopped by barge-in",
  options,
  async create({ engine, ...socket }, context): Promise<Channel<FastifyInstance>> {
    const voice = await voiceOf(engine);
    const websocket = await context.plugin("channel-websocket");
    const defaults: object = websocket.options.parse(socket);
    // A voice cannot be expressed in a config; plugins that build on this channel pass one.
    return (await websocket.create({ ...defaults, voice } as never, context)) as Channel<FastifyInstance>;
  },
});

const voiceOf = (engine: Options["engine"]): Promise<Voice> | Voice =>
  engine.type === "espeak-ng" ? espeakVoice(engine) : openAiVoice(engine);
