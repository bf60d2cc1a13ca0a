import { definePlugin, fromToolOptions, Size, type Tool, type ToolSource, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { editTool } from "./edit.ts";
import { listTool } from "./list.ts";
import { patchTool } from "./patch.ts";
import { readTool } from "./read.ts";
import { openRoot } from "./root.ts";
import { searchTool } from "./search.ts";
import { writeTool } from "./write.ts";

/** Names that hold secrets or that other programs execute; a folder that matches hides all that is in it. */
const denied = [".env*", ".git", ".ssh", ".npmrc", ".netrc", "*.pem", "*.key", "*.p12", "id_rsa*", "id_ed25519*"];

const options = z.strictObject({
  ...toolOptions,
  root: z.string().describe("folder the tools work in; relative to the config's folder"),
  write: z.boolean().default(false).describe("also offer the tools that write and edit"),
  maxFile: Size.default(1_048_576).describe("largest file read or written"),
  maxEntries: z.number().int().positive().default(1_000).describe("most entries or matches in one answer"),
  deny: z.array(z.string().max(200)).default(denied).describe("names that do not exist for the tools; * and ? match"),
});
export type FilesOptions = z.output<typeof options>;

export default definePlugin({
  name: "files",
  kind: "tool",
  description: "Reads, lists, searches and writes files under one folder",
  options,
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
