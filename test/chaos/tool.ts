import { appendFileSync } from "node:fs";
import { definePlugin, type Tool } from "venturi/plugin";
import { z } from "zod";

/** Tools that leave a line for every time they are really run, so that a test can count. */
export default definePlugin({
  name: "chaos-tool",
  kind: "tool",
  options: z.strictObject({ file: z.string(), ms: z.number() }),
  create(options, context): Tool {
    return {
      name: context.name,
      description: "Does its work and leaves a line.",
      parameters: { type: "object", properties: { n: { type: "number" } } },
      effect: context.name === "look" ? "pure" : "effectful",
      async call(_input, { run, call }) {
        appendFileSync(options.file, `${context.name} ${run} ${call}\n`);
        await new Promise((resolve) => setTimeout(resolve, options.ms));
        return "done";
      },
    };
  },
});
