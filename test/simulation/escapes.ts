import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { currentLife, type Life } from "./world.ts";

/**
 * Places that reach past the ports for time, chance or a turn of the event loop. In a simulated process they get the world's;
 * a place that is not on this list is a violation, so that the list stays true.
 */
const known: readonly RegExp[] = [
  /^setImmediate src\/journal\/start-turns\.js/,
  /^timers\.setImmediate src\/agent\/model\/generation\.js/,
  /^timers\.setImmediate src\/agent\/tools\/execute\.js/,
  /^random src\/agent\/model\/chain\.js/,
  /^randomUUID src\/host\/runs\/run-id\.js/,
  /^randomBytes src\/host\/runs\/run-signals\.js/,
];

const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  now: Date.now,
  monotonic: performance.now.bind(performance),
  random: Math.random,
  randomUUID: crypto.randomUUID,
  randomBytes: crypto.randomBytes,
  turn: timersPromises.setImmediate,
};

const places = new Map<string, boolean>();

/** The process, after checking that the code that asks is on the list. */
function escaped(what: string): Life | undefined {
  const life = currentLife();
  if (life === undefined) return undefined;
  const place = placeOf(what);
  let listed = places.get(place);
  if (listed === undefined) {
    listed = known.some((pattern) => pattern.test(place));
    places.set(place, listed);
  }
  if (!listed) life.world.violated(`not through a port: ${place}`);
  return life;
}

function placeOf(what: string): string {
  const line = new Error("where").stack?.split("\n").find((each) => /\/dist\/(src|plugins)\//.test(each));
  return `${what} ${line?.replace(/.*\/dist\//, "").replace(/:\d+\)?$/, "") ?? "elsewhere"}`;
}

const hidden = { ref: () => hidden, unref: () => hidden };

/** Numbers in place of random ids: the same in every repetition, and different in each process. */
let ids = 0;
export const resetIds = (): void => {
  ids = 0;
};

/** For the rest of this process. Code outside of a simulated process is not affected. */
export function trapEscapes(): void {
  const replaced = {
    setImmediate: (callback: (...given: unknown[]) => void, ...given: unknown[]) => {
      const life = escaped("setImmediate");
      if (life === undefined) return real.setImmediate(callback, ...given);
      if (!life.dead) life.world.turn(life, () => callback(...given));
      return hidden;
    },
    setTimeout: (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
      const life = escaped("setTimeout");
      if (life === undefined) return real.setTimeout(callback, ms, ...given);
      life.world.timer(life, ms ?? 0, () => callback(...given));
      return hidden;
    },
    setInterval: (callback: () => void, ms?: number) => {
      if (escaped("setInterval") === undefined) return real.setInterval(callback, ms);
      return hidden;
    },
  };
  Object.assign(globalThis, replaced);
  Date.now = () => {
    const life = escaped("Date.now");
    return life === undefined ? real.now() : Math.floor(life.world.now);
  };
  performance.now = () => {
    const life = escaped("performance.now");
    return life === undefined ? real.monotonic() : life.world.now;
  };
  Math.random = () => {
    const life = escaped("random");
    return life === undefined ? real.random() : life.world.decisions.below(1_000) / 1_000;
  };
  const builtins = {
    randomUUID: (options?: crypto.RandomUUIDOptions) => {
      if (escaped("randomUUID") === undefined) return real.randomUUID(options);
      const id = (++ids).toString(16);
      return `${id.padStart(8, "0")}-0000-4000-8000-${id.padStart(12, "0")}`;
    },
    randomBytes: (size: number) => {
      if (escaped("randomBytes") === undefined) return real.randomBytes(size);
      return Buffer.from((++ids).toString(16).padStart(size * 2, "0"), "hex");
    },
  };
  Object.assign(crypto, builtins);
  Object.assign(timersPromises, {
    setImmediate: (value: unknown) => {
      const life = escaped("timers.setImmediate");
      if (life === undefined) return real.turn(value);
      return new Promise((resolve) => life.world.turn(life, () => resolve(value)));
    },
  });
  // Named imports of builtins are live bindings: they see the replacements.
  syncBuiltinESMExports();
}
