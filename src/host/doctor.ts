import { accessSync, constants, existsSync, readFileSync, statfsSync } from "node:fs";
import { connect } from "node:net";
import { dirname, resolve } from "node:path";
import { messageOf } from "../core/errors/errors.ts";
import type { Provider } from "../core/model/provider.ts";
import { systemClock } from "../core/ports/clock.ts";
import { silentLog } from "../core/ports/log.ts";
import type { Instance, PluginKind } from "../core/ports/plugin.ts";
import { noTelemetry } from "../core/ports/telemetry.ts";
import { Instances } from "./build/instances.ts";
import { type Config, type LoadOptions, loadConfig } from "./config/load.ts";
import { hostContainer } from "./container.ts";
import { asked } from "./doctor-deep.ts";
import { type Finding, plannedProcesses, runningProcesses } from "./doctor-processes.ts";
import { tooOld } from "./system/node-version.ts";

const leastDisk = 512 * 1024 * 1024;
const patience = 3_000;

/** Checks everything a working service needs. Names the variables of keys, never their values. */
export async function* examine(options: LoadOptions & { readonly deep?: boolean }): AsyncGenerator<Finding> {
  yield node();
  let config: Config;
  try {
    config = await loadConfig(options);
  } catch (thrown) {
    yield { what: "config", status: "bad", found: messageOf(thrown) };
    return;
  }
  yield { what: "config", status: "good", found: `${options.file} (${config.hash})` };
  if (options.file !== undefined) yield* keys(options.file);
  yield* await port(config);
  yield disk(config);
  yield await journal(config);
  yield* await providers(config);
  yield* loads(config, options.deep === true);
  const { endpoint } = config.telemetry.otlp;
  if (endpoint !== "") yield await reach("collector", endpoint, "note");
}

function node(): Finding {
  const complaint = tooOld(process.versions.node);
  return { what: "node", status: complaint === undefined ? "good" : "bad", found: complaint ?? process.version };
}

/** The environment variables that the config takes secrets from. */
function* keys(file: string): Generator<Finding> {
  const names = new Set(
    [...readFileSync(file, "utf8").matchAll(/\$\{env:(\w*(?:KEY|TOKEN|SECRET)\w*)/g)].map(([, name]) => name),
  );
  for (const name of names) {
    const isSet = name !== undefined && Boolean(process.env[name]);
    yield { what: `key ${name}`, status: isSet ? "good" : "note", found: isSet ? "is set" : "is not set" };
  }
}

async function port({ server }: Config): Promise<Finding[]> {
  const { host, port: number } = server.listen;
  const taken = number !== 0 && (await connects(host, number));
  const what = `port ${number}`;
  if (!taken) return [{ what, status: "good", found: `free on ${host}` }, ...plannedProcesses(server.processes)];
  const listens: Finding = {
    what,
    status: "note",
    found: `something already listens on ${host}; is the service running?`,
  };
  return [listens, ...(await runningProcesses(server))];
}

function disk({ folder, dataFolder }: Config): Finding {
  let place = resolve(folder, dataFolder);
  while (!existsSync(place)) place = dirname(place);
  try {
    accessSync(place, constants.W_OK);
    const { bavail, bsize } = statfsSync(place);
    const free = bavail * bsize;
    const found = `${(free / 1024 ** 3).toFixed(1)} GiB free in ${place}`;
    return { what: "disk", status: free < leastDisk ? "bad" : "good", found };
  } catch (thrown) {
    return { what: "disk", status: "bad", found: `${place}: ${messageOf(thrown)}` };
  }
}

/** Checks only whether the server responds; inspecting and migrating the contents is the journal's task. */
async function journal({ journal: { type, options } }: Config): Promise<Finding> {
  const what = "journal";
  const url = textOf(options, "url");
  const urls = url === undefined ? textsOf(options, "servers") : [url];
  if (urls.length === 0) return { what, status: "good", found: `${type}, needs no network` };
  const places = urls.flatMap(placesOf);
  const reached = await Promise.all(places.map(([host, number]) => connects(host, number)));
  const found = places.map(
    ([host, number], index) => `${host}:${number} ${reached[index] ? "answers" : "cannot be reached"}`,
  );
  if (!reached.includes(true)) return { what, status: "bad", found: found.join(", ") };
  if (textOf(options, "durability") !== "unchecked") return { what, status: "good", found: found.join(", ") };
  const unchecked = "durability: unchecked, so whether they sync before they acknowledge is not known";
  return { what, status: "note", found: `${found.join(", ")}; ${unchecked}` };
}

/** The hosts of `postgres://user:password@one:5432,two/database`, `nats://one:4222` or `one:4222`. */
function placesOf(url: string): [host: string, port: number][] {
  const [, scheme = "nats", authority = ""] = /^(?:([a-z]+):\/\/)?([^/?#]*)/.exec(url) ?? [];
  const usual = scheme.startsWith("postgres") ? 5432 : 4222;
  return authority
    .slice(authority.lastIndexOf("@") + 1)
    .split(",")
    .filter((place) => URL.canParse(`tcp://${place}`))
    .map((place) => new URL(`tcp://${place}`))
    .map(({ hostname, port: number }) => [hostname.replace(/^\[|\]$/g, ""), Number(number) || usual]);
}

async function providers(config: Config): Promise<Finding[]> {
  const found: Promise<Finding>[] = [];
  for (const { name, type, options } of Object.values(config.providers)) {
    const url = textOf(options, "baseUrl");
    if (url !== undefined) found.push(reach(`provider ${name}`, url, "bad").then(unasked));
    else found.push(Promise.resolve({ what: `provider ${name}`, status: "good", found: `${type}, needs no network` }));
  }
  return await Promise.all(found);
}

/** Creates everything that a start would create, one by one, and closes it again. */
async function* loads(config: Config, deep: boolean): AsyncGenerator<Finding> {
  const runs = () => {
    throw new Error("no runs are started here");
  };
  const container = hostContainer({ config, log: silentLog, clock: systemClock, telemetry: noTelemetry, runs });
  const instances = container.resolve(Instances);
  const sections = { provider: config.providers, tool: config.tools, channel: config.channels } as const;
  try {
    for (const [kind, entries] of Object.entries(sections)) {
      for (const entry of Object.values(entries)) {
        const what = `${kind} ${entry.name}`;
        const made = await instances
          .make(kind as PluginKind, entry) // A key of `sections`.
          .then(
            (instance) => ({ instance }),
            (thrown) => ({ failure: messageOf(thrown) }),
          );
        if ("failure" in made) yield { what, status: "bad", found: made.failure };
        else if (deep && kind === "provider") yield* asked(config, entry.name, made.instance as Instance<Provider>);
        else if (kind !== "provider") yield { what, status: "good", found: `${entry.type} loads` };
      }
    }
  } finally {
    await instances.close().catch(() => {}); // Opened only to see whether it opens.
  }
}

/** An open port proves neither that it is the provider nor that the key is right. */
const unasked = (finding: Finding): Finding =>
  finding.status === "good" ? { ...finding, found: `${finding.found}; no model was asked (--deep asks)` } : finding;

function textOf(options: unknown, name: string): string | undefined {
  if (typeof options !== "object" || options === null) return undefined;
  const value: unknown = Reflect.get(options, name);
  return typeof value === "string" ? value : undefined;
}

function textsOf(options: unknown, name: string): string[] {
  if (typeof options !== "object" || options === null) return [];
  const value: unknown = Reflect.get(options, name);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

async function reach(what: string, address: string, otherwise: "note" | "bad"): Promise<Finding> {
  if (!URL.canParse(address)) return { what, status: "bad", found: "its address is not a URL" };
  const { hostname, port: number, protocol } = new URL(address);
  const target = Number(number) || (protocol === "http:" ? 80 : 443);
  const reached = await connects(hostname, target);
  const place = `${hostname}:${target}`;
  return {
    what,
    status: reached ? "good" : otherwise,
    found: reached ? `${place} takes connections` : `${place} cannot be reached`,
  };
}

function connects(host: string, number: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: number, timeout: patience });
    const end = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
