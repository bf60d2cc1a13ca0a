import type { Command } from "commander";
import { configSchema } from "../host/config/json-schema.ts";
import { loadConfig } from "../host/config/load.ts";
import { showJson as configJson, showYaml } from "../host/config/show.ts";
import { PluginLoader } from "../host/plugins/plugin-loader.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { showData, showJson } from "./screen.ts";

export function configure(command: Command): void {
  command.addHelpText("after", example("venturi config show", "venturi config schema > venturi.schema.json"));
  command
    .command("show")
    .description("print every effective value and where it came from; secrets are masked")
    .option("--json", "print JSON, without the origin of each value")
    .addHelpText("after", example("venturi config show --set limits.drain=5s"))
    .action(async (options: { json?: true }, shown: Command) => {
      const config = await loadConfig(loadOptionsOf(shown));
      if (options.json) showJson(process.stdout, JSON.stringify(configJson(config), null, 2));
      else showData(process.stdout, showYaml(config));
    });
  command
    .command("schema")
    .description("print the JSON Schema of the configuration, including all built-in plugins")
    .addHelpText("after", example("venturi config schema > config/venturi.schema.json"))
    .action(async () => {
      showJson(process.stdout, JSON.stringify(await configSchema(new PluginLoader()), null, 2));
    });
}
