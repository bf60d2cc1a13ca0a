import { imports, journalFiles } from "./journals.ts";
import { config, decoders, frames, schemas } from "./parsers.ts";
import { http, openFuzzed, query, socket } from "./service.ts";
import type { Target } from "./target.ts";

/** Everything that is fuzzed, over one service. */
export async function openTargets(folder: string): Promise<{ targets: readonly Target[]; close(): Promise<void> }> {
  const service = await openFuzzed(folder);
  const targets = [
    frames,
    decoders,
    schemas,
    config(folder),
    http(service),
    query(service),
    socket(service),
    await journalFiles(folder),
    await imports(folder),
  ];
  return { targets, close: () => service.drain() };
}
