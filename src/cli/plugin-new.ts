import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { PluginKind } from "../core/ports/plugin.ts";
import { example } from "./globals.ts";
import { pluginFiles } from "./new-plugin/package.ts";
import { show } from "./screen.ts";

const op = "plugin.new";

const kinds: readonly PluginKind[] = ["provider", "tool", "channel", "journal", "guard", "memory"];

export function configure(command: Command): void {
  command.addHelpText("after", example("venturi plugin new weather --kind tool"));
  command
    .command("new")
    .description("write a plugin as its own package, with a passing test")
    .argument("<name>", "name of the plugin and of its folder: a-z, 0-9 and -")
    .addOption(new Option("--kind <kind>", "kind of the plugin").choices(kinds).makeOptionMandatory())
    .option("--folder <path>", "where to write it (default: ./NAME)")
    .addHelpText("after", example("venturi plugin new weather --kind tool", "cd weather && npm install && npm test"))
    .action((name: string, options: { kind: PluginKind; folder?: string }) => {
      const folder = resolve(options.folder ?? name);
      const written = writePlugin(name, options.kind, folder);
      show(process.stdout, `${written.map((file) => join(folder, file)).join("\n")}\n`);
      show(process.stderr, `now: cd ${folder} && npm install && npm test\n`);
      show(process.stderr, `then name it in the configuration: plugins: ["${folder}"]\n`);
    });
}

export function writePlugin(name: string, kind: PluginKind, folder: string): string[] {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw new VenturiError(op, "invalid_input", `"${name}" is not a valid plugin name; use a-z, 0-9 and -`);
  }
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new VenturiError(op, "conflict", `${folder} already exists and is not empty; choose another --folder`);
  }
  const files = pluginFiles(name, kind);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return Object.keys(files);
}
