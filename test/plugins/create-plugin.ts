import type { z } from "zod";
import type { Provider } from "../../src/core/model/provider.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { Instance, Plugin, PluginContext } from "../../src/core/ports/plugin.ts";

const context: PluginContext = {
  name: "test",
  log: silentLog,
  clock: systemClock,
  folder: ".",
  runs: () => {
    throw new Error("no runs here");
  },
  resolve: () => {
    throw new Error("no container here");
  },
  plugin: async () => {
    throw new Error("no other plugins here");
  },
};

/** A provider as the host makes it: options through the plugin's schema, then `create`. */
export async function createPlugin<Options>(
  plugin: Plugin<"provider", Options>,
  options: z.input<z.ZodType<unknown>>,
): Promise<Instance<Provider>> {
  return plugin.create(plugin.options.parse(options), context);
}
