import { z } from "zod";

interface ChannelDefaults {
  readonly prefix: string;
  readonly onDisconnect: "continue" | "cancel";
  /** What this channel's clients expect; part of the description of `onDisconnect`. */
  readonly expected: string;
}

/** Options of a channel that serves clients of another vendor's API. */
export const channelOptions = ({ prefix, onDisconnect, expected }: ChannelDefaults) =>
  z.strictObject({
    prefix: z
      .string()
      .regex(/^\/[\w/-]*$/)
      .default(prefix)
      .describe("where the API is mounted"),
    onDisconnect: z
      .enum(["continue", "cancel"])
      .default(onDisconnect)
      .describe(`what to do with a run when its client disconnects; ${expected}`),
    compat: z
      .enum(["report", "strict"])
      .default("report")
      .describe(
        "what to do with fields that cannot reach the model: report them in `venturi-warnings`, or refuse with 400",
      ),
  });
