import { resolve } from "node:path";
import { definePlugin, fromToolOptions, type Tool, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { loadTool } from "./load.ts";

export default definePlugin({
  name: "module",
  kind: "tool",
  description: "A function from a file of your own",
  options: z.strictObject({
    ...toolOptions,
    path: z.string().describe("JavaScript or TypeScript file; relative to the config's folder"),
    export: z.string().default("default"),
    description: z.string().optional().describe("in place of the module's own"),
    effect: z.enum(["pure", "idempotent", "effectful"]).optional().describe("in place of the module's own"),
  }),
  async create(options, context): Promise<Tool> {
    const own = await loadTool(resolve(context.folder, options.path), options.export);
    return {
      ...own,
      ...fromToolOptions(options),
      name: context.name,
      description: options.description ?? own.description,
      effect: options.effect ?? own.effect ?? "effectful",
      call: (input, call) => own.call(input, call),
    };
  },
});
