import { definePlugin } from "venturi/plugin";
import { z } from "zod";
import { kept } from "./kept.ts";

export default definePlugin({
  name: "channel-sample",
  kind: "channel",
  options: z.strictObject({ path: z.string().optional() }),
  create(_options, context) {
    kept.push(`open ${context.name}`);
    return { mount: () => {}, close: () => void kept.push(`close ${context.name}`) };
  },
});
