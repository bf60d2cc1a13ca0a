import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { VenturiError } from "../core/errors/errors.ts";
import type { Case, RunSource } from "../evals/dataset/cases.ts";
import { RunSet } from "../evals/scoring/run-set.ts";
import { type Config, type LoadOptions, loadConfig } from "../host/config/load.ts";
import { type Host, openHost } from "../host/open.ts";
import type { Recordings } from "../host/recordings/recordings.ts";
import { isAlive } from "../host/system/pid-file.ts";
import { quietly } from "./quiet.ts";

const op = "cli.eval";

/** Recorded runs of the configured journal, for a set. */
export const sourceOf = (recordings: Recordings): RunSource => ({
  now: Date.now(),
  get: (run) => recordings.journal.get(run),
  list: (query) => recordings.list(query),
  async export(run) {
    let text = "";
    for await (const line of recordings.export(run)) text += line;
    return text;
  },
});

/** Where evals keep their journals and results. */
export const evalFolder = ({ folder, dataFolder }: Pick<Config, "folder" | "dataFolder">): string =>
  resolve(folder, dataFolder, "evals");

interface State {
  /** Of its keys: an eval that was interrupted goes on, one that is done begins anew. */
  readonly attempt: number;
  readonly variant: string;
  readonly done: boolean;
  readonly pid: number;
  readonly worker: string;
}

export interface Bench {
  readonly host: Host;
  /** Beginning of the idempotency keys. */
  readonly key: string;
  /** Whether it goes on from an interruption. */
  readonly resumed: boolean;
  /** The next one begins anew. */
  finish(): void;
}

export interface BenchOptions {
  readonly load: LoadOptions;
  readonly name: string;
  /** Of what is tried: the cases, the configuration and the options. */
  readonly variant: string;
  readonly cases: readonly Case[];
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

/**
 * Opens the configuration on a journal of the eval's own, so that no service claims its runs and nothing of it is among
 * theirs.
 */
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
    // Killed: nobody else has its runs.
    ...(before === undefined || before.done
      ? {}
      : { before: { worker: before.worker, death: { cause: "the eval was interrupted" } } }),
  });
  return { host, key: `eval:${name}:${attempt}`, resumed, finish: () => write(true) };
}

/** `--model` for an agent: also for runs whose caller chose another. */
const modelOf = (agent: string, model: string): string[] => {
  const path = `agents.${agent.replaceAll(".", "\\.")}`;
  return [`${path}.model=${model}`, `${path}.overrides.models=${JSON.stringify([model])}`];
};

const agentsOf = ({ agent, recordings }: Case): string[] => {
  const last = recordings.at(-1);
  if (agent !== undefined || last === undefined) return agent === undefined ? [] : [agent];
  const heading = JSON.parse(last.slice(0, last.indexOf("\n"))) as { request: { agent: string } }; // read before
  return [heading.request.agent];
};

function stateIn(file: string): State | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as State; // written above
  } catch {
    return undefined;
  }
}

export function writeRunSet(folder: string, found: RunSet): string {
  const file = join(folder, `${found.set}.${found.name}.json`);
  writeFileSync(file, `${JSON.stringify(found)}\n`);
  return file;
}

/** A run set by its name, or as a file. */
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
