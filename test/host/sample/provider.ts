import { Duration, definePlugin } from "venturi/plugin";
import { z } from "zod";
import { kept } from "./kept.ts";

export default definePlugin({
  name: "sample-provider",
  kind: "provider",
  options: z.strictObject({
    apiKey: z.string().optional(),
    attempts: z.number().int().prefault(1),
    loud: z.boolean().prefault(false),
    patience: Duration.prefault("1s"),
    headers: z.record(z.string(), z.string()).optional(),
    fail: z.boolean().optional(),
  }),
  create(options, context) {
    if (options.fail) throw new Error("no such model server");
    kept.push(`open ${context.name}`);
    return {
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      async generate() {
        return { parts: [{ type: "text", text: `attempts ${options.attempts}` }], finish: "stop", usage: {} };
      },
      close() {
        kept.push(`close ${context.name}`);
      },
    };
  },
});
