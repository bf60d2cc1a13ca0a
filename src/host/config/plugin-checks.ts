import { messageOf } from "../../core/errors.ts";
import type { CheckContext, OptionProblem } from "../../core/plugin.ts";
import type { PluginEntry } from "./entries.ts";
import { type Problem, pathText } from "./problem.ts";
import { keysOf, type MapNode, type Path, placeOf } from "./tree.ts";

/** Runs the plugins' own checks of their entries, such as missing files or unknown names, and locates each problem. */
export async function checkEntries(
  entries: Readonly<Record<string, Readonly<Record<string, PluginEntry>>>>,
  { root, folder, problems }: { root: MapNode; folder: string; problems: Problem[] },
): Promise<void> {
  const agents = keysOf(root, ["agents"]);
  const all = Object.entries(entries).flatMap(([section, named]) =>
    Object.values(named).map((entry) => ({ entry, path: [section, entry.name] as Path })),
  );
  const found = await Promise.all(
    all.map(async ({ entry, path }) => {
      const wrong = await problemsOf(entry, { name: entry.name, folder, agents });
      return wrong.map((problem) => ({ path: [...path, ...problem.path], message: problem.message }));
    }),
  );
  for (const { path, message } of found.flat()) {
    problems.push({ place: placeOf(root, path), path: pathText(path), message });
  }
}

async function problemsOf({ loaded, options }: PluginEntry, context: CheckContext): Promise<readonly OptionProblem[]> {
  const { plugin } = loaded;
  try {
    return (await plugin.check?.(options as never, context)) ?? []; // parsed with the plugin's schema
  } catch (thrown) {
    return [{ path: [], message: messageOf(thrown) }];
  }
}
