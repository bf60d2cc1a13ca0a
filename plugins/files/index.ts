import { definePlugin, fromToolOptions, type Tool, type ToolSource } from "venturi/plugin";
import { editTool } from "./edit.ts";
import { listTool } from "./list.ts";
import { FilesOptions } from "./options.ts";
import { patchTool } from "./patch.ts";
import { readTool } from "./read.ts";
import { openRoot } from "./root.ts";
import { searchTool } from "./search.ts";
import { writeTool } from "./write.ts";

export default definePlugin({
  name: "files",
  kind: "tool",
  description: "Reads, lists, searches and writes files under one folder",
  options: FilesOptions,
  async create(options, context): Promise<ToolSource & { close(): Promise<void> }> {
    const root = await openRoot(options, context.folder);
    const reading = [readTool, listTool, searchTool];
    const makers = options.write ? [...reading, writeTool, editTool, patchTool] : reading;
    const tools: readonly Tool[] = makers.map((make) => ({
      ...fromToolOptions(options),
      ...make(root, context.name),
    }));
    return { list: () => tools, close: () => root.close() };
  },
});
