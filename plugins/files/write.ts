import { defineTool, type Tool } from "venturi/plugin";
import { z } from "zod";
import { replaceContent } from "./replace.ts";
import type { Root } from "./root.ts";

const parameters = z.strictObject({
  path: z.string().describe("path below the root; missing folders are created"),
  content: z.string().describe("the complete new content"),
});

export const writeTool = (root: Root, name: string): Tool =>
  defineTool({
    name: `${name}_write`,
    description: "Writes a text file below the root folder, replacing what was there.",
    input: parameters,
    effect: "idempotent",
    call: ({ path, content }) =>
      root.inTurn(() =>
        root.making(path, async (folder, file) => {
          const bytes = await replaceContent(folder, file, { content, maxFile: root.options.maxFile });
          return { path, bytes };
        }),
      ),
  });
