import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { definePlugin, fromToolOptions, messageOf, type Tool, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { loadTool } from "./load.ts";
import { Threads } from "./threads.ts";

type Effect = NonNullable<Tool["effect"]>;

const Options = z.strictObject({
  ...toolOptions,
  path: z.string().describe("JavaScript or TypeScript file; relative to the config's folder"),
  export: z.string().default("default"),
  description: z.string().optional().describe("replaces the module's own"),
  effect: z.enum(["pure", "idempotent", "effectful"]).optional().describe("replaces the module's own"),
  isolate: z
    .boolean()
    .default(false)
    .describe("runs it in a separate thread: if it blocks or crashes, only its call fails"),
});
type Options = z.output<typeof Options>;

async function isolated(file: string, options: Options, name: string): Promise<Tool & { close(): Promise<void> }> {
  const threads = new Threads({ file, exported: options.export });
  const own = await threads.describe();
  return {
    ...(own.timeout === undefined ? {} : { timeout: own.timeout }),
    ...fromToolOptions(options),
    name,
    description: options.description ?? own.description,
    parameters: own.parameters,
    effect: options.effect ?? (own.effect as Effect | undefined) ?? "effectful", // Checked by the thread.
    call: (input, context) => threads.call(input, context),
    close: () => threads.close(),
  };
}

export default definePlugin({
  name: "module",
  kind: "tool",
  description: "A function from your own file",
  options: Options,
  async check(options, { folder }) {
    const file = resolve(folder, options.path);
    try {
      // An isolated tool is not loaded here: it may block or crash.
      if (!options.isolate) await loadTool(file, options.export);
      else if (!existsSync(file)) return [{ path: ["path"], message: `${file} does not exist` }];
      return [];
    } catch (thrown) {
      const message = messageOf(thrown);
      const wanted = message.includes("has no export") && options.export !== "default" ? "export" : "path";
      return [{ path: [wanted], message }];
    }
  },
  async create(options, context): Promise<Tool & { close?(): Promise<void> }> {
    const file = resolve(context.folder, options.path);
    if (options.isolate) return await isolated(file, options, context.name);
    const own = await loadTool(file, options.export);
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
