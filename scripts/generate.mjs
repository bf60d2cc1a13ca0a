// Writes what is generated from the code: config/venturi.schema.json, docs/config.md, the chart's alerts, the Python client's models, the public types and the doors. With --check: fails when one is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configSchema } from "../dist/src/host/config/json-schema.js";
import { PluginLoader } from "../dist/src/host/plugins/plugin-loader.js";
import { configPage } from "./config-page.mjs";
import { doors } from "./doors.mjs";
import { publicTypes } from "./public-types.mjs";
import { serviceTypes } from "./service-types.mjs";

const root = new URL("../", import.meta.url);
const { models } = await serviceTypes();
const schema = await configSchema(new PluginLoader());
const files = {
  "config/venturi.schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  "docs/config.md": configPage(schema),
  // A chart has no files outside of its folder.
  "deploy/helm/venturi/files/alerts.yaml": readFileSync(new URL("deploy/prometheus/alerts.yaml", root), "utf8"),
  "clients/python/src/venturi_client/models.py": models,
  ...publicTypes(fileURLToPath(root)),
  ...(await doors(fileURLToPath(root))),
};
for (const [name, text] of Object.entries(files)) {
  const path = new URL(name, root);
  const isFresh = existsSync(path) && readFileSync(path, "utf8") === text;
  if (isFresh) continue;
  if (process.argv.includes("--check")) {
    process.stderr.write(`${name} is stale; run npm run generate\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(new URL("./", path), { recursive: true });
    writeFileSync(path, text);
    process.stdout.write(`${name}\n`);
  }
}
