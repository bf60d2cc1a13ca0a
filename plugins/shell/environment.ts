import { dirname } from "node:path";
import { redactor } from "venturi/internal";
import type { Jail } from "./jail.ts";
import type { ShellOptions } from "./options.ts";

/** Passes nothing of the service's environment except what the config lists. */
export function childEnvironment(options: ShellOptions, jail: Jail): Record<string, string> {
  return {
    PATH: options.path.join(":"),
    HOME: jail.root,
    LANG: "C.UTF-8",
    TERM: "dumb",
    GIT_CEILING_DIRECTORIES: dirname(jail.root),
    ...passed(options),
    ...options.env,
  };
}

const harmless = /^(?:PATH|HOME|LANG|LANGUAGE|LC_.*|TZ|TERM|USER|LOGNAME|SHELL|PWD)$/;

/** Redacts the values the config passes to commands from their output. */
export function outputRedactor(options: ShellOptions): (text: string) => string {
  const given = Object.entries({ ...passed(options), ...options.env });
  return redactor(Object.fromEntries(given.filter(([name]) => !harmless.test(name))));
}

function passed(options: ShellOptions): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of options.passEnv) {
    const value = process.env[name];
    if (value !== undefined) values[name] = value;
  }
  return values;
}
