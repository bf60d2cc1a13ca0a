/**
 * Calls every function of every entry point with values of wrong types in each place, in its own process: what it prints are
 * the calls that threw or rejected with anything but an op and a code, one line each; the last line counts the calls.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, openVenturi, simulator } from "venturi";
import { VenturiClient } from "venturi/client";
import { sampled } from "../sweep.ts";

// biome-ignore lint/suspicious/noExplicitAny: anything that can be called
type Any = any;

const wrong: readonly unknown[] = [
  undefined,
  null,
  0,
  Number.NaN,
  1n,
  "",
  "x",
  true,
  Symbol("x"),
  [],
  [null],
  {},
  Object.create(null),
  { name: 5, model: 5, tools: 5, agents: 5, options: 5, url: 5, text: 5, messages: 5, events: 5, signal: 5, types: 5 },
  () => {},
  new Map(),
];
/** What stands in the other places, so that a call gets past the first of its checks. */
const others: readonly unknown[] = sampled([undefined, "x", {}, () => {}], 2);

let calls = 0;
const failures = new Set<string>();
const pending: Promise<unknown>[] = [];

const kind = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
const fail = (what: string, thrown: Any): void => {
  if (typeof thrown?.op === "string" && typeof thrown?.code === "string" && thrown instanceof Error) return;
  failures.add(`${what}: ${thrown?.constructor?.name}: ${String(thrown?.message).slice(0, 100)}`);
};
process.on("unhandledRejection", (thrown) => fail("unhandled rejection", thrown));
process.on("uncaughtException", (thrown) => fail("uncaught exception", thrown));

/** One call; what it returns is read, and closed when it is open. */
function attempt(what: string, call: () => unknown): unknown {
  calls++;
  try {
    const returned = call() as Any;
    const isStream = typeof returned?.[Symbol.asyncIterator] === "function" && typeof returned !== "string";
    const read = isStream ? returned[Symbol.asyncIterator]().next() : returned;
    if (typeof read?.then === "function") {
      const closed = read.then((value: Any) => (typeof value?.close === "function" ? value.close() : value));
      pending.push(closed.catch((thrown: unknown) => fail(what, thrown)));
    }
    return returned;
  } catch (thrown) {
    fail(what, thrown);
    return undefined;
  }
}

/** The function with each wrong value in each place. */
function sweep(name: string, call: (...args: unknown[]) => unknown, places: number): unknown {
  let first: unknown;
  for (let place = 0; place < Math.max(1, places); place++) {
    for (const value of wrong) {
      for (const other of places > 1 ? others : [undefined]) {
        const args = Array.from({ length: Math.max(1, places) }, (_, at) => (at === place ? value : other));
        const returned = attempt(`${name}(${args.map(kind).join(", ")})`, () => call(...args));
        if (typeof returned === "object") first ??= returned;
      }
    }
  }
  return first;
}

/** Each method that stands on the object or its classes. */
function sweepMethods(name: string, object: Any, skip: readonly string[] = []): void {
  const names = new Set<string>();
  for (let holder = object; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder)) {
    for (const key of Object.getOwnPropertyNames(holder)) names.add(key);
  }
  for (const key of names) {
    if (key === "constructor" || skip.includes(key)) continue;
    let member: unknown;
    try {
      member = object[key];
    } catch (thrown) {
      fail(`${name}.${key}`, thrown);
    }
    // Default values do not count in `length`.
    if (typeof member === "function") sweep(`${name}.${key}`, (...args) => object[key](...args), 2);
  }
}

const isClass = (value: Any): boolean => /^class\b/.test(Function.prototype.toString.call(value));
const manifest = new URL("../../../package.json", import.meta.url);
const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as { exports: Record<string, { types?: string }> };

for (const [face, { types }] of Object.entries(exports)) {
  if (types === undefined) continue;
  const entry = face.replace(/^\./, "venturi");
  for (const [name, member] of Object.entries<Any>(await import(entry))) {
    if (typeof member !== "function") continue;
    const places = Math.min(3, Math.max(1, member.length + (isClass(member) ? 2 : 1)));
    if (!isClass(member)) sweep(`${entry} ${name}`, member, places);
    else {
      const made = sweep(`${entry} new ${name}`, (...args) => new member(...args), places);
      if (made !== undefined) sweepMethods(`${entry} ${name}`, made);
    }
  }
}

const answering = agent({ name: "answering", model: simulator()("small") });
const venturi = await openVenturi({ agents: [answering], settings: { channels: { http: {} } } });
sweepMethods("agent", answering);
sweepMethods("venturi.agent()", venturi.agent("answering"), ["pause"]); // the runs below would wait
sweepMethods("venturi.session()", venturi.session(answering, "s1"));
const run = await venturi.start(answering, "Hello");
await run.result();
sweepMethods("run", run);
sweepMethods("venturi.runs", venturi.runs, ["drain"]); // the host's own, not in the type
sweepMethods("venturi", venturi, ["close"]);
const client = new VenturiClient({ url: "http://127.0.0.1:9", retry: { attempts: 1 } });
sweepMethods("client", client);
sweepMethods("client.run()", client.run("run_1"));
await Promise.race([Promise.allSettled(pending), sleep(1000)]); // some wait for what never comes
for (const failure of failures) process.stdout.write(`${failure}\n`);
process.stdout.write(`${calls} calls\n`);
process.exit(0);
