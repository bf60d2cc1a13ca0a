import { definePlugin, fromToolOptions, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { kept } from "./kept.ts";

export default definePlugin({
  name: "sample-tool",
  kind: "tool",
  options: z.strictObject({
    ...toolOptions,
    greeting: z.string().prefault("hello"),
    failClose: z.boolean().optional(),
  }),
  create(options, context) {
    kept.push(`open ${context.name}`);
    return {
      name: context.name,
      description: "greets",
      parameters: z.strictObject({ who: z.string() }),
      ...fromToolOptions(options),
      async call({ who }) {
        return `${options.greeting} ${String(who)}`;
      },
      close() {
        kept.push(`close ${context.name}`);
        if (options.failClose) throw new Error("the door is stuck");
      },
    };
  },
});
