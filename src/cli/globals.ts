import { type Command, Option } from "commander";
import type { LoadOptions } from "../host/config/load.ts";

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

export function loadOptionsOf(command: Command): LoadOptions {
  const { config, set } = globalsOf(command);
  return { file: config, set };
}

/** Shown under a command's options. */
export const example = (...lines: string[]): string => `\nExample:\n${lines.map((line) => `  ${line}\n`).join("")}`;
