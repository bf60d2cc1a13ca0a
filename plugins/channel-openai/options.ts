import { channelOptions } from "venturi/plugin/channel";
import type { z } from "zod";

export const Options = channelOptions({
  prefix: "/openai/v1",
  onDisconnect: "cancel",
  expected: "OpenAI's clients expect cancel",
});
export type Options = z.output<typeof Options>;
