import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { VenturiError } from "../core/errors/errors.ts";
import type { Case } from "../evals/dataset/cases.ts";
import { RunSet } from "../evals/scoring/run-set.ts";
import { type Config, type LoadOptions, loadConfig } from "../host/config/load.ts";
import { type Host, openHost } from "../host/open.ts";
import { isAlive } from "../host/system/pid-file.ts";
import { quietly } from "./quiet.ts";

const op = "cli.eval";

/** Folder for the journals and results of evals. */
export const evalFolder = ({ folder, dataFolder }: Pick<Config, "folder" | "dataFolder">): string =>
  resolve(folder, dataFolder, "evals");

interface State {
  /** Part of the idempotency keys: an interrupted eval continues, a finished one starts over. */
  readonly attempt: number;
  readonly variant: string;
  readonly done: boolean;
  readonly pid: number;
  readonly worker: string;
}

export interface Bench {
  readonly host: Host;
  /** Prefix of the idempotency keys. */
  readonly key: string;
  /** Whether it continues an interrupted eval. */
  readonly resumed: boolean;
  /** Marks it as done; the next one starts over. */
  finish(): void;
}

export interface BenchOptions {
  readonly load: LoadOptions;
  readonly name: string;
  /** Hash of the cases, the configuration and the options. */
  readonly variant: string;
  readonly cases: readonly Case[];
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

/** Opens the configuration with a separate journal, so that no service claims the eval's runs and they do not appear among its own. */
export async function openBench({ load, name, variant, cases, agent, model }: BenchOptions): Promise<Bench> {
  const folder = evalFolder(await loadConfig(load));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.state.json`);
  const before = stateIn(file);
  if (before !== undefined && !before.done && before.pid !== process.pid && isAlive(before.pid))
    throw new VenturiError(op, "conflict", `the eval ${name} runs already, in process ${before.pid}`);
  const resumed = before !== undefined && !before.done && before.variant === variant;
  const attempt = resumed ? before.attempt : (before?.attempt ?? 0) + 1;
  const worker = `eval-${process.pid}-${Date.now().toString(36)}`;
  const state = { attempt, variant, pid: process.pid, worker };
  const write = (done: boolean) => writeFileSync(file, JSON.stringify({ ...state, done } satisfies State));
  write(false);
  const agents = new Set([...(agent === undefined ? cases.flatMap((each) => agentsOf(each)) : [agent])]);
  const chosen = model === undefined ? [] : [...agents].flatMap((each) => modelOf(each, model));
  const journal = { type: "sqlite", path: join(folder, `${name}.db`) };
  const host = await openHost({
    ...(load.file === undefined ? {} : { configFile: load.file }),
    ...(load.env === undefined ? {} : { env: load.env }),
    set: quietly([...(load.set ?? []), `journal=${JSON.stringify(journal)}`, ...chosen]),
    worker,
    shadows: false,
    // The previous process was killed, so nobody else has its runs.
    ...(before === undefined || before.done
      ? {}
      : { before: { worker: before.worker, death: { cause: "the eval was interrupted" } } }),
  });
  return { host, key: `eval:${name}:${attempt}`, resumed, finish: () => write(true) };
}

/** Applies `--model` to the agent, also for runs whose caller chose another. */
const modelOf = (agent: string, model: string): string[] => {
  const path = `agents.${agent.replaceAll(".", "\\.")}`;
  return [`${path}.model=${model}`, `${path}.overrides.models=${JSON.stringify([model])}`];
};

const agentsOf = ({ agent, recordings }: Case): string[] => {
  const last = recordings.at(-1);
  if (agent !== undefined || last === undefined) return agent === undefined ? [] : [agent];
  const heading = JSON.parse(last.slice(0, last.indexOf("\n"))) as { request: { agent: string } }; // Read before.
  return [heading.request.agent];
};

function stateIn(file: string): State | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as State; // Written above.
  } catch {
    return undefined;
  }
}

export function writeRunSet(folder: string, found: RunSet): string {
  const file = join(folder, `${found.set}.${found.name}.json`);
  writeFileSync(file, `${JSON.stringify(found)}\n`);
  return file;
}

/** A result by name or file. */
export function readRunSet(folder: string, set: string, named: string): RunSet {
  const file = named.endsWith(".json") ? resolve(named) : join(folder, `${set}.${named}.json`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const message = `--against: there is no run set "${named}" of ${set} (${file}); \`venturi eval … --as ${named}\` keeps one`;
    throw new VenturiError(op, "not_found", message, { cause });
  }
  const parsed = RunSet.safeParse(value);
  if (!parsed.success) throw new VenturiError(op, "invalid_input", `--against: ${file} is no run set`);
  return parsed.data;
}
