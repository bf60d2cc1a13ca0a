import { defineTool, type Tool } from "venturi/plugin";
import { z } from "zod";
import { readText } from "./content.ts";
import type { Root } from "./root.ts";

const parameters = z.strictObject({
  path: z.string().describe("path below the root, such as src/main.ts"),
  from: z.number().int().min(1).optional().describe("first line, from 1"),
  lines: z.number().int().min(1).max(10_000).optional().describe("how many lines"),
});

export const readTool = (root: Root, name: string): Tool =>
  defineTool({
    name: `${name}_read`,
    description: "Reads a text file below the root folder, whole or a range of lines.",
    input: parameters,
    effect: "pure",
    call: ({ path, from, lines }) =>
      root.inside(path, async (folder, file) => {
        const { text } = await readText(folder, file, root.options.maxFile);
        if (from === undefined && lines === undefined) return text;
        const all = text.split("\n");
        const first = (from ?? 1) - 1;
        return all.slice(first, lines === undefined ? undefined : first + lines).join("\n");
      }),
  });
