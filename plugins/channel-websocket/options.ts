import type { Voice } from "venturi/plugin";
import { z } from "zod";

export const Options = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\w/-]*$/)
    .default("/ws")
    .describe("where sockets connect"),
  onDisconnect: z
    .enum(["continue", "cancel"])
    .default("continue")
    .describe("what happens to the runs that a socket started when it disconnects"),
  messagesPerSecond: z
    .number()
    .int()
    .positive()
    .default(50)
    .describe("messages and pings of one socket that are read in a second; what comes faster waits"),
  subscriptions: z.number().int().positive().default(64).describe("most runs followed on one socket"),
});
/** A channel built on this one supplies a voice. */
export type Options = z.output<typeof Options> & { readonly voice?: Voice };
