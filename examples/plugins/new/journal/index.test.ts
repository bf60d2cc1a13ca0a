import { boxPlugin, journalContract, testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

journalContract("my-plugin", {
  open: async ({ lease }) => plugin.create(plugin.options.parse({ lease }), testPluginContext({ plugin: boxPlugin })),
});
