import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { runningWorld } from "./world.ts";

const place = /\/dist\/((?:src|plugins)\/.*?):\d+\)?$/;

/** Code of the product that reaches past its ports for time, chance or a turn of the event loop fails the history. */
function escaped(what: string): void {
  const world = runningWorld();
  if (world === undefined) return;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const lines = new Error("where").stack?.split("\n") ?? [];
  Error.stackTraceLimit = limit;
  const line = lines.find((each) => place.test(each));
  if (line !== undefined) world.violated(`not through a port: ${what} in ${place.exec(line)?.[1]}`);
}

/** For the rest of this process. Stacks are left out of errors: nobody reads them here, and they cost a fifth of a history. */
export function trapEscapes(): void {
  Error.stackTraceLimit = 0;
  for (const name of ["setImmediate", "setTimeout", "setInterval", "fetch"] as const)
    trap(globalThis as unknown as Record<string, unknown>, name);
  trap(Date, "now");
  trap(performance, "now");
  trap(Math, "random");
  for (const name of ["randomUUID", "randomBytes", "randomInt"] as const) trap(crypto, name);
  for (const name of ["setImmediate", "setTimeout"] as const) trap(timersPromises, name);
  // Named imports of builtins are live bindings: they see the replacements.
  syncBuiltinESMExports();
}

function trap<Name extends string>(holder: Record<Name, unknown>, name: Name): void {
  const real = holder[name] as (...given: unknown[]) => unknown;
  holder[name] = (...given: unknown[]) => {
    escaped(name);
    return real.apply(holder, given);
  };
}
