import { openA2a } from "./a2a.ts";
import { imports, journalFiles } from "./journals.ts";
import { openMcp } from "./mcp.ts";
import { openNative } from "./native.ts";
import { openPages } from "./pages.ts";
import { config, decoders, frames, schemas } from "./parsers.ts";
import { http, openFuzzed, query, socket } from "./service.ts";
import type { Target } from "./target.ts";

/** Everything that is fuzzed, over one service. */
export async function openTargets(folder: string): Promise<{ targets: readonly Target[]; close(): Promise<void> }> {
  const service = await openFuzzed(folder);
  const native = await openNative();
  const mcp = await openMcp();
  const a2a = await openA2a();
  const targets = [
    frames,
    decoders,
    schemas,
    config(folder),
    http(service),
    query(service),
    await openPages(service),
    socket(service),
    native.target,
    mcp.target,
    a2a.target,
    await journalFiles(folder),
    await imports(folder),
  ];
  return {
    targets,
    close: async () => void (await Promise.all([service.drain(), native.close(), mcp.close(), a2a.close()])),
  };
}
