import { definePlugin, type MemoryStore } from "venturi/plugin";
import { z } from "zod";

/**
 * Starts out as the memory of the process under its own name. Replace its methods one by one with those of your engine;
 * the contract suite in the test says when each is right.
 */
export default definePlugin({
  name: "my-plugin",
  kind: "memory",
  description: "Keeps notes in its own engine",
  options: z.strictObject({}),
  async create(_options, context): Promise<MemoryStore> {
    const memory = await context.plugin("recall-memory");
    return (await memory.create(memory.options.parse({}), context)) as MemoryStore; // what that plugin makes
  },
});
