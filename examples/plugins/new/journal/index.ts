import { definePlugin, type Journal } from "venturi/plugin";
import { z } from "zod";

/**
 * Starts out as the journal in memory under its own name. Replace its methods one by one with those of your engine;
 * the contract suite in the test says when each is right.
 */
export default definePlugin({
  name: "my-plugin",
  kind: "journal",
  description: "Keeps runs in its own engine",
  options: z.strictObject({
    lease: z
      .number()
      .int()
      .positive()
      .default(10_000)
      .describe("Milliseconds without a heartbeat after which a worker loses its runs."),
  }),
  async create(options, context): Promise<Journal> {
    const memory = await context.plugin("memory");
    const journal = await memory.create(memory.options.parse({ lease: options.lease }), context);
    return journal as Journal; // what the plugin "memory" makes
  },
});
