import { defineTool, type Tool } from "venturi/plugin";
import { z } from "zod";
import { failure, readText } from "./content.ts";
import { replaceContent } from "./replace.ts";
import type { Root } from "./root.ts";

const parameters = z.strictObject({
  path: z.string(),
  find: z.string().min(1).describe("text that occurs in the file exactly once"),
  replace: z.string().describe("replacement text"),
});

export const editTool = (root: Root, name: string): Tool =>
  defineTool({
    name: `${name}_edit`,
    description: "Replaces one passage of a text file below the root folder.",
    input: parameters,
    effect: "effectful",
    call: ({ path, find, replace }) => root.inTurn(() => edit(root, path, { find, replace })),
  });

const edit = (root: Root, path: string, { find, replace }: { find: string; replace: string }) =>
  root.inside(path, async (folder, file) => {
    const { text, mark, mode } = await readText(folder, file, root.options.maxFile);
    const at = text.indexOf(find);
    if (at < 0) throw failure(`the text to find is not in "${file}"; read it again`);
    if (text.indexOf(find, at + 1) >= 0)
      throw failure(`the text to find occurs more than once in "${file}"; give more of it`);
    const content = mark + text.slice(0, at) + replace + text.slice(at + find.length);
    const bytes = await replaceContent(folder, file, { content, maxFile: root.options.maxFile, mode });
    return { path, bytes, line: text.slice(0, at).split("\n").length };
  });
