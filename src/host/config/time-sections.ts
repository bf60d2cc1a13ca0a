import type { Problem } from "../yaml/problem.ts";
import { find, type MapNode } from "../yaml/tree.ts";

/** Sections of the file that are options of the channel `time`. */
const sections = ["schedules", "webhooks", "hooks"] as const;
const channel = "time";

/**
 * `schedules:`, `webhooks:` and `hooks:` become options of the channel `time`, which is added when there is one of them, or a
 * tool that makes schedules. Their nodes keep their places in the file.
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
    // Written in both places: the one of the channel is reported as unknown then.
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

/** The path as it is in the file. */
export const asWritten = (problem: Problem): Problem => {
  const prefix = `channels.${channel}.`;
  const rest = problem.path.startsWith(prefix) ? problem.path.slice(prefix.length) : "";
  const isMoved = sections.some((section) => rest === section || rest.startsWith(`${section}.`));
  return isMoved ? { ...problem, path: rest } : problem;
};
