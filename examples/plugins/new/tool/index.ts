import { definePlugin, defineTool, fromToolOptions, toolOptions } from "venturi/plugin";
import { z } from "zod";

export default definePlugin({
  name: "my-plugin",
  kind: "tool",
  description: "Counts the words of a text",
  options: z.strictObject({
    ...toolOptions,
    language: z.string().default("en").describe("Language whose word boundaries count."),
  }),
  create: (options, context) =>
    defineTool({
      ...fromToolOptions(options),
      name: context.name,
      description: "Counts the words of a text.",
      input: z.strictObject({ text: z.string().describe("The text to count in.") }),
      // pure: no effect at all, so it may start while the model still talks and be repeated after a crash.
      effect: "pure",
      call({ text }) {
        const segments = new Intl.Segmenter(options.language, { granularity: "word" }).segment(text);
        return { words: [...segments].filter((segment) => segment.isWordLike).length };
      },
    }),
});
