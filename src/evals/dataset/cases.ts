import { existsSync, globSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { messageOf } from "../../core/errors/errors.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import type { RunsQuery } from "../../core/run/list-query.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { type Dataset, type Place, refuse } from "./read.ts";
import type { Expected, Item } from "./schema.ts";

/** One case to run: a recorded run, or an input. */
export interface Case {
  readonly id: string;
  readonly place: Place;
  readonly expect: Expected;
  readonly note?: string;
  /** For a recorded run: its id, and its export after those of its conversation. */
  readonly run?: string;
  readonly recordings: readonly string[];
  readonly input?: RunInput;
  readonly agent?: string;
}

/** Where recorded runs come from. */
export interface RunSource {
  get(run: string): Promise<RunRow | undefined>;
  list(query: RunsQuery): Promise<{ runs: readonly RunRow[]; cursor?: string }>;
  /** As JSON lines. */
  export(run: string): Promise<string>;
  readonly now: number;
}

/** The cases of a set. Looks up all runs first and rejects with everything that is wrong, so that nothing is run in part. */
export async function casesOf(set: Dataset, source: RunSource): Promise<Case[]> {
  const problems: string[] = [];
  const found: Omit<Case, "id">[] = [];
  const ids: (string | undefined)[] = [];
  for (const { item, place } of set.items) {
    const made = await resolved(item, { set, place, source, problems });
    for (const each of made) {
      found.push(each);
      ids.push("id" in item ? item.id : undefined);
    }
  }
  const cases = found.map((each, index) => ({ ...each, id: ids[index] ?? each.run ?? `item-${index + 1}` }));
  const seen = new Map<string, Case>();
  for (const each of cases) {
    const first = seen.get(each.id);
    if (first === undefined) seen.set(each.id, each);
    else if (first.run !== undefined && first.run === each.run && first.place !== each.place)
      problems.push(`${each.place}: the run ${each.run} is in the set already, at ${first.place}`);
    else problems.push(`${each.place}: the id ${each.id} is taken, at ${first.place}`);
  }
  refuse(problems);
  return cases;
}

interface Resolving {
  readonly set: Dataset;
  readonly place: Place;
  readonly source: RunSource;
  readonly problems: string[];
}

async function resolved(item: Item, resolving: Resolving): Promise<Omit<Case, "id">[]> {
  const { place, problems, set, source } = resolving;
  const note = item.note === undefined ? {} : { note: item.note };
  const shared = { place, expect: item.expect ?? {}, recordings: [], ...note };
  if ("input" in item) {
    const agent = item.agent ?? set.agent;
    if (agent === undefined) problems.push(`${place}: no agent: name one here or at the top of the set`);
    return agent === undefined ? [] : [{ ...shared, input: item.input, agent }];
  }
  if ("run" in item) {
    const row = await source.get(item.run);
    if (row === undefined)
      problems.push(`${place}: there is no run ${item.run}; it never was in this journal, or it was pruned`);
    else if (row.state !== "done") problems.push(`${place}: the run ${item.run} has not ended`);
    return row?.state === "done" ? [{ ...shared, run: row.run, recordings: await recordingsOf(row, source) }] : [];
  }
  if ("file" in item) return fromFiles(item.file, shared, resolving);
  const rows = await selected(item.runs, source);
  if (rows.length === 0) problems.push(`${place}: no ended run is like this`);
  return await Promise.all(
    rows.map(async (row) => ({ ...shared, run: row.run, recordings: await recordingsOf(row, source) })),
  );
}

function fromFiles(pattern: string, shared: Omit<Case, "id">, { set, place, problems }: Resolving): Omit<Case, "id">[] {
  // A name with signs of a pattern is a name where there is such a file.
  const isName = existsSync(resolve(set.folder, pattern));
  const files = isName ? [pattern] : globSync(pattern, { cwd: set.folder }).sort();
  if (files.length === 0) problems.push(`${place}: there is no file ${pattern} in ${relative(".", set.folder) || "."}`);
  return files.flatMap((file) => {
    try {
      const recordings = splitRuns(readFileSync(resolve(set.folder, file), "utf8"));
      const run = recordings.map(runNamed).at(-1);
      if (run === undefined) throw new Error("it has no run");
      return [{ ...shared, run, recordings }];
    } catch (thrown) {
      problems.push(`${place}: ${file} is no exported run: ${messageOf(thrown)}`);
      return [];
    }
  });
}

/** Splits an export of several runs, each with its heading; the last is the run itself. */
export function splitRuns(text: string): string[] {
  const runs: string[][] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    if (line.startsWith('{"venturi":"dataset-run"')) continue;
    if (line.startsWith('{"venturi":"run"')) runs.push([]);
    runs.at(-1)?.push(line);
  }
  return runs.map((lines) => `${lines.join("\n")}\n`);
}

export function runNamed(recording: string): string {
  const heading = JSON.parse(recording.slice(0, recording.indexOf("\n"))) as { run?: unknown };
  if (typeof heading.run !== "string") throw new Error("its heading names no run");
  return heading.run;
}

async function selected(
  { since, until, limit, label, minScore, maxScore, ratedBy, ...same }: Extract<Item, { runs: unknown }>["runs"],
  source: RunSource,
): Promise<RunRow[]> {
  const rating = { label, minScore, maxScore, by: ratedBy };
  const feedback = Object.fromEntries(Object.entries(rating).filter(([, value]) => value !== undefined));
  const at = (moment: typeof since) =>
    moment === undefined ? undefined : "ago" in moment ? source.now - moment.ago : moment.at;
  const [from, to] = [at(since), at(until)];
  const query: RunsQuery = {
    ...same,
    state: "done",
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
    ...(Object.keys(feedback).length === 0 ? {} : { feedback }),
  };
  const rows: RunRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.list({ ...query, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    // Forks and called agents are not user traffic.
    rows.push(...page.runs.filter(({ request }) => request.fork === undefined && request.parent === undefined));
    cursor = page.cursor;
  } while (cursor !== undefined && rows.length < limit);
  return rows.slice(0, limit);
}

/** The run's export, after the earlier runs of its conversation. */
export async function recordingsOf(row: RunRow, source: RunSource): Promise<string[]> {
  const before: string[] = [];
  let cursor: string | undefined;
  do {
    if (row.session === undefined) break;
    const { session, tenant } = row;
    const query = { session, tenant, oldestFirst: true, limit: 50, ...(cursor === undefined ? {} : { cursor }) };
    const page = await source.list(query);
    const at = page.runs.findIndex(({ run }) => run === row.run);
    const earlier = at < 0 ? page.runs : page.runs.slice(0, at);
    before.push(...earlier.filter(({ state }) => state === "done").map(({ run }) => run));
    cursor = at < 0 ? page.cursor : undefined;
  } while (cursor !== undefined);
  return await Promise.all([...before, row.run].map((run) => source.export(run)));
}
