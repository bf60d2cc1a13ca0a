import { lstat, unlink } from "node:fs/promises";
import { defineTool, type Tool } from "venturi/plugin";
import { z } from "zod";
import { failure, readText } from "./content.ts";
import { createdBy, updatedBy } from "./diff.ts";
import { replaceContent } from "./replace.ts";
import { explain, type Folder, type Root, refusal } from "./root.ts";

const path = z.string().describe("path below the root");

/** The format of OpenAI's `apply_patch_call`, so that such a call needs no translation. */
const parameters = z.strictObject({
  operation: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("create_file"), path, diff: z.string().describe('the lines, each after a "+"') }),
    z.strictObject({
      type: z.literal("update_file"),
      path,
      diff: z.string().describe('hunks after "@@" lines; before each line a blank, "+" or "-"; no line numbers'),
    }),
    z.strictObject({ type: z.literal("delete_file"), path }),
  ]),
});
type Operation = z.output<typeof parameters>["operation"];

export const patchTool = (root: Root, name: string): Tool =>
  defineTool({
    name: `${name}_patch`,
    description: "Creates, changes or deletes one text file below the root folder by a diff.",
    input: parameters,
    aliases: ["apply_patch"],
    effect: "effectful",
    call: ({ operation }) => root.inTurn(() => patch(root, operation)),
  });

function patch(root: Root, operation: Operation): Promise<string> {
  const { maxFile } = root.options;
  switch (operation.type) {
    case "create_file":
      return root.making(operation.path, async (folder, file) => {
        if (await exists(folder, file)) throw failure(`"${file}" already exists; update it`);
        const bytes = await replaceContent(folder, file, { content: createdBy(operation.diff), maxFile });
        return `created ${operation.path} (${bytes} bytes)`;
      });
    case "update_file":
      return root.inside(operation.path, async (folder, file) => {
        const { text, mark, mode } = await readText(folder, file, maxFile);
        const content = mark + updatedBy(text, operation.diff);
        const bytes = await replaceContent(folder, file, { content, maxFile, mode });
        return `updated ${operation.path} (${bytes} bytes)`;
      });
    case "delete_file":
      return root.inside(operation.path, async (folder, file) => {
        await remove(folder, file);
        return `deleted ${operation.path}`;
      });
  }
}

const exists = (folder: Folder, name: string): Promise<boolean> =>
  lstat(folder.at(name)).then(
    () => true,
    () => false,
  );

async function remove(folder: Folder, name: string): Promise<void> {
  try {
    const stats = await lstat(folder.at(name));
    if (stats.isSymbolicLink()) throw refusal(`"${name}" is a link; links are not followed`);
    if (!stats.isFile()) throw failure(`"${name}" is not a regular file`);
    await unlink(folder.at(name));
  } catch (thrown) {
    throw explain(thrown, name);
  }
}
