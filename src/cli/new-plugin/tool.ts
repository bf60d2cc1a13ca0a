import type { PluginFiles } from "./files.ts";

export const toolFiles = (name: string): PluginFiles => ({
  "index.ts": `import { definePlugin, defineTool, fromToolOptions, toolOptions } from "venturi/plugin";
import { z } from "zod";

export default definePlugin({
  name: "${name}",
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
`,
  "index.test.ts": `import assert from "node:assert/strict";
import { callTool, testPluginContext, toolContract, toolNamed } from "venturi/testing";
import plugin from "./index.ts";

const create = () => plugin.create(plugin.options.parse({}), testPluginContext({ name: "count" }));

toolContract("${name}", {
  create,
  samples: [{ tool: "count", input: { text: "one two" } }],
  misfits: [{ tool: "count", input: { text: 7 } }],
});

describe("${name}", () => {
  it("counts words, not characters or punctuation", async () => {
    const { output } = await callTool(toolNamed(await create(), "count"), { text: "To be, or not to be?" });
    assert.deepEqual(output, { words: 6 });
  });
});
`,
});
