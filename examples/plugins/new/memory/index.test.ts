import { boxPlugin, memoryContract, testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

memoryContract("my-plugin", {
  open: async () => {
    const journal = {} as never; // what the memory of the process is kept by
    return plugin.create(plugin.options.parse({}), testPluginContext({ plugin: boxPlugin, resolve: () => journal }));
  },
});
