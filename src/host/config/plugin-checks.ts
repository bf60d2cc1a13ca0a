import { messageOf } from "../../core/errors/errors.ts";
import type { CheckContext, OptionProblem } from "../../core/ports/plugin.ts";
import { type Problem, pathText } from "../yaml/problem.ts";
import { keysOf, type MapNode, type Path, placeOf } from "../yaml/tree.ts";
import type { PluginEntry } from "./entries.ts";

interface Entries {
  readonly journal: PluginEntry | undefined;
  readonly providers: Readonly<Record<string, PluginEntry>>;
  readonly tools: Readonly<Record<string, PluginEntry>>;
  readonly guards: Readonly<Record<string, PluginEntry>>;
  readonly memories: Readonly<Record<string, PluginEntry>>;
  readonly channels: Readonly<Record<string, PluginEntry>>;
}

interface Checking extends Pick<CheckContext, "folder" | "processes"> {
  readonly root: MapNode;
  readonly problems: Problem[];
}

/** Runs the plugins' own checks of their entries, such as missing files or unknown names, and locates each problem. */
export async function checkEntries({ journal, ...sections }: Entries, checking: Checking): Promise<void> {
  const { root, problems, folder, processes } = checking;
  const agents = keysOf(root, ["agents"]);
  const memories = keysOf(root, ["memories"]);
  const all = Object.entries(sections).flatMap(([section, named]) =>
    Object.values(named).map((entry) => ({ entry, path: [section, entry.name] as Path })),
  );
  if (journal !== undefined) all.push({ entry: journal, path: ["journal"] });
  const found = await Promise.all(
    all.map(async ({ entry, path }) => {
      const wrong = await problemsOf(entry, { name: entry.name, folder, agents, memories, processes });
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
    return (await plugin.check?.(options as never, context)) ?? []; // Parsed with the plugin's schema.
  } catch (thrown) {
    return [{ path: [], message: messageOf(thrown) }];
  }
}
