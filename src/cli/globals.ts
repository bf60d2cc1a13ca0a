import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Command, Option } from "commander";
import type { LoadOptions } from "../host/config/load.ts";
import { show } from "./screen.ts";

export interface Globals {
  readonly config: string;
  readonly set: readonly string[];
}

/** Options of every command, before or after its name. */
export function addGlobals(program: Command): void {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  program
    .addOption(
      new Option("--config <file>", "the configuration file").default("config/venturi.yaml").env("VENTURI_CONFIG"),
    )
    .addOption(
      new Option("--set <path=value>", "override a value of the configuration; may be repeated")
        .argParser(collect)
        .default([], "none"),
    );
}

export function globalsOf(command: Command): Globals {
  return command.optsWithGlobals<{ config: string; set: string[] }>();
}

/**
 * The same for commands that only try an agent: without a configuration they use the built-in one, with data in the working directory. A
 * service never starts on a configuration that was not chosen.
 */
export function globalsOrBox(command: Command): Globals {
  const { config, set } = globalsOf(command);
  if (command.getOptionValueSourceWithGlobals("config") !== "default" || existsSync(config)) return { config, set };
  if (!told) show(process.stderr, `there is no ${config} here: using the built-in one (venturi init copies it)\n`);
  told = true;
  const journal = boxJournal();
  return {
    config: fileURLToPath(new URL("../../../config/venturi.yaml", import.meta.url)),
    set: [`dataFolder=${dirname(journal)}`, `journal.path=${journal}`, ...set],
  };
}

/** The same for commands about stored runs: what was run without a configuration is found without one. */
export const recordedGlobalsOf = (command: Command): Globals =>
  existsSync(boxJournal()) ? globalsOrBox(command) : globalsOf(command);

export const loadOptionsOf = (command: Command): LoadOptions => fileIn(globalsOf(command));
export const recordedOptionsOf = (command: Command): LoadOptions => fileIn(recordedGlobalsOf(command));

const fileIn = ({ config, set }: Globals): LoadOptions => ({ file: config, set });
/** A command may need the configuration twice. */
let told = false;

const boxJournal = (): string => resolve("data", "venturi.db");

/** Shown under a command's options. */
export const example = (...lines: string[]): string => `\nExample:\n${lines.map((line) => `  ${line}\n`).join("")}`;
