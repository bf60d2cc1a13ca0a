import type { Problem } from "../yaml/problem.ts";
import { find, type MapNode } from "../yaml/tree.ts";

/** Sections of the file that are options of the channel `time`. */
const sections = ["schedules", "webhooks", "hooks"] as const;
const channel = "time";

/**
 * Moves `schedules:`, `webhooks:` and `hooks:` into the options of the channel `time`, adding it if one of them, or a tool that creates
 * schedules, exists. Their nodes keep their source locations.
 */
export function moveTimeSections(root: MapNode): void {
  const channels = find(root, ["channels"]);
  const given = sections.filter((section) => root.entries.has(section));
  if (channels?.kind !== "map" || (given.length === 0 && !hasLater(root))) return;
  const [first] = given;
  const place = (first === undefined ? undefined : root.entries.get(first)?.key) ?? channels.place;
  const entry = channels.entries.get(channel) ?? { key: place, node: { kind: "map", place, entries: new Map() } };
  channels.entries.set(channel, entry);
  if (entry.node.kind !== "map") return;
  for (const section of given) {
    const moved = root.entries.get(section);
    // Set in both places: the channel's own key is then reported as unknown.
    if (moved === undefined || entry.node.entries.has(section)) continue;
    entry.node.entries.set(section, moved);
    root.entries.delete(section);
  }
}

function hasLater(root: MapNode): boolean {
  const tools = find(root, ["tools"]);
  if (tools?.kind !== "map") return false;
  return [...tools.entries.keys()].some((name) => {
    const type = find(tools, [name, "type"]);
    return type?.kind === "scalar" && type.value === "later";
  });
}

/** Maps a problem's path back to the path in the file. */
export const asWritten = (problem: Problem): Problem => {
  const prefix = `channels.${channel}.`;
  const rest = problem.path.startsWith(prefix) ? problem.path.slice(prefix.length) : "";
  const isMoved = sections.some((section) => rest === section || rest.startsWith(`${section}.`));
  return isMoved ? { ...problem, path: rest } : problem;
};
