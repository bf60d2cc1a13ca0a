import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { messageOf, VenturiError } from "../core/errors/errors.ts";
import { example } from "./globals.ts";
import { ownCommand } from "./own-command.ts";
import { show } from "./screen.ts";
import { codeOf } from "./system-error.ts";

const files = ["venturi.yaml", "venturi.schema.json", "prompts/assistant.md"];
export const boxConfigFolder = fileURLToPath(new URL("../../../config/", import.meta.url));

/** `venturi init`: writes a starter configuration, a copy of the built-in one. */
export function configure(command: Command): void {
  command
    .argument("[folder]", "where the configuration goes", "config")
    .addHelpText("after", example("venturi init", "venturi start"))
    .action((folder: string) => {
      const there = files.map((file) => join(folder, file)).find((file) => existsSync(file));
      if (there !== undefined) {
        throw new VenturiError("cli.init", "conflict", `${there} already exists; choose another folder`);
      }
      try {
        for (const file of files) copy(file, folder);
      } catch (cause) {
        throw new VenturiError("cli.init", codeOf(cause), `${folder} cannot be written: ${messageOf(cause)}`, {
          cause,
        });
      }
      show(process.stdout, `${files.map((file) => join(folder, file)).join("\n")}\n`);
      show(
        process.stderr,
        `now: ${ownCommand()} start${folder === "config" ? "" : ` --config ${join(folder, files[0] ?? "")}`}\n`,
      );
    });
}

function copy(file: string, folder: string): void {
  const target = join(folder, file);
  mkdirSync(dirname(target), { recursive: true });
  const text = readFileSync(join(boxConfigFolder, file), "utf8");
  // The built-in configuration is in a subfolder; in the project root its relative data paths would point outside.
  const inside = resolve(folder) === process.cwd() && file.endsWith(".yaml");
  writeFileSync(target, inside ? text.replaceAll("../data", "./data") : text);
}
