import type { Voice } from "venturi/plugin";
import { z } from "zod";

export const Options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/ws")
    .describe("path of the WebSocket"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("continue")
    .describe("what happens to the runs that a socket started when it disconnects"),
  messagesPerSecond: z
    .number()
    .int()
    .positive()
    .default(50)
    .describe("messages, pings and pongs read per socket and second; faster ones wait"),
  subscriptions: z.number().int().positive().default(64).describe("maximum runs followed per socket"),
});
/** A channel built on this one supplies a voice. */
export type Options = z.output<typeof Options> & { readonly voice?: Voice };
