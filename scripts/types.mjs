// Writes the types that are derived from running code and so are not in git: of the service's answers, from its OpenAPI document, and of
// the plugins' options, from their schemas. Names each file that has changed.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { PluginLoader } from "../dist/src/host/plugins/plugin-loader.js";
import { pluginOptions } from "./plugin-options.mjs";
import { serviceTypes } from "./service-types.mjs";

const { declarations } = await serviceTypes();
const files = {
  "src/client/venturi.api.d.ts": declarations,
  "src/library/plugin-options.ts": await pluginOptions(new PluginLoader()),
};
for (const [name, text] of Object.entries(files)) {
  if (existsSync(name) && readFileSync(name, "utf8") === text) continue;
  writeFileSync(name, text);
  process.stdout.write(`${name}\n`);
}
process.exit(0);
