import { dirname } from "node:path";
import type { Command } from "./commands.ts";
import type { ShellOptions } from "./index.ts";
import type { Jail } from "./jail.ts";

/** Nothing of the service's own environment but what the config passes on. */
export function childEnvironment(options: ShellOptions, jail: Jail, command: Command): Record<string, string> {
  return {
    PATH: options.path.join(":"),
    HOME: jail.root,
    LANG: "C.UTF-8",
    TERM: "dumb",
    GIT_CEILING_DIRECTORIES: dirname(jail.root),
    ...command.rule.environment,
    ...passed(options),
    ...options.env,
  };
}

const harmless = /^(?:PATH|HOME|LANG|LANGUAGE|LC_.*|TZ|TERM|USER|LOGNAME|SHELL|PWD)$/;
const shortestSecret = 6;

/** Takes the values the config handed to the commands out of what the commands print. */
export function redactor(options: ShellOptions): (text: string) => string {
  const secrets = Object.entries({ ...passed(options), ...options.env })
    .filter(([name, value]) => !harmless.test(name) && value.length >= shortestSecret)
    .sort(([, left], [, right]) => right.length - left.length);
  return (text) => secrets.reduce((clean, [name, value]) => clean.replaceAll(value, `[${name}]`), text);
}

function passed(options: ShellOptions): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of options.passEnv) {
    const value = process.env[name];
    if (value !== undefined) values[name] = value;
  }
  return values;
}
