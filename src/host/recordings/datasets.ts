import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { AddedToDataset, NewDatasetItem } from "../../core/ports/inspect.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { Config } from "../config/load.ts";
import { addToDataset } from "./add-to-dataset.ts";
import { Recordings } from "./recordings.ts";

/** Names of the tenant's sets in the configured folder. */
export async function datasetNames(config: Config, tenant: string): Promise<string[]> {
  const files = await readdir(folderOf(config, tenant)).catch(() => []); // The first item creates it.
  return files
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => basename(name, ".jsonl"))
    .sort();
}

/** Adds a run to a set of its tenant. */
export async function addRun(config: Config, journal: Journal, given: NewDatasetItem): Promise<AddedToDataset> {
  const { dataset, tenant, ...item } = given;
  const target = { to: join(folderOf(config, tenant), `${dataset}.jsonl`), redact: config.telemetry.redact };
  await inTurn(() => addToDataset(new Recordings(journal), target, item));
  return { dataset, run: item.run, file: `${dataset}.runs/${item.run}.jsonl` };
}

/** Tenants never share a set: every tenant but `default` has its own folder. */
function folderOf({ folder, datasets }: Config, tenant: string): string {
  const own = tenant === defaultTenant ? "" : encodeURIComponent(tenant).replaceAll(".", "%2E");
  if (datasets !== undefined) return resolve(folder, datasets, own);
  const message = "there is no folder for datasets; set `datasets: ./cases` in the configuration";
  throw new VenturiError("dataset.add", "not_found", message);
}

let last: Promise<unknown> = Promise.resolve();

/** One at a time, so that a run added twice concurrently is refused once. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const next = last.then(work, work);
  last = next.catch(() => {});
  return next;
}
