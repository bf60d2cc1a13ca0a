import type { Command } from "commander";
import { PluginLoader } from "../host/build/plugin-loader.ts";
import { configSchema } from "../host/config/json-schema.ts";
import { loadConfig } from "../host/config/load.ts";
import { showJson, showYaml } from "../host/config/show.ts";
import { example, loadOptionsOf } from "./globals.ts";

export function configure(command: Command): void {
  command.addHelpText("after", example("venturi config show", "venturi config schema > venturi.schema.json"));
  command
    .command("show")
    .description("every effective value with the place it came from; secrets are masked")
    .option("--json", "as JSON, without the places")
    .addHelpText("after", example("venturi config show --set limits.drain=5s"))
    .action(async (options: { json?: true }, show: Command) => {
      const config = await loadConfig(loadOptionsOf(show));
      process.stdout.write(options.json ? `${JSON.stringify(showJson(config), null, 2)}\n` : showYaml(config));
    });
  command
    .command("schema")
    .description("the JSON Schema of the configuration, with the options of every plugin in the box")
    .addHelpText("after", example("venturi config schema > config/venturi.schema.json"))
    .action(async () => {
      process.stdout.write(`${JSON.stringify(await configSchema(new PluginLoader()), null, 2)}\n`);
    });
}
