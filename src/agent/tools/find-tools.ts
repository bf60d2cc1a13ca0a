import { z } from "zod";
import type { Tool } from "../../core/ports/tool.ts";
import type { RunContext } from "../run/run-context.ts";
import { readSkill } from "./read-skill.ts";
import { specOf } from "./tool-table.ts";

const mostFound = 8;
const mostGroups = 60;

/**
 * The tools offered when there are too many: `find_tools`, then those it found, newest last, so that the prompt prefix stays cached.
 * Undefined when all are offered.
 */
export function deferredTools(run: RunContext, own: readonly Tool[]): readonly Tool[] | undefined {
  const { defer } = run.agent.toolPolicy;
  if (defer === undefined || own.length <= defer.above) return undefined;
  const byName = new Map(own.map((tool) => [tool.name, tool]));
  // The instructions refer to `read_skill`, so it is always offered.
  const shown = byName.get(readSkill);
  byName.delete(readSkill);
  const found = [...run.state.foundTools].flatMap((name) => byName.get(name) ?? []);
  const rest = [...byName.values()];
  return [findTools(run, rest), ...(shown === undefined ? [] : [shown]), ...found];
}

/** One object: what is made of a schema is kept with it. */
const parameters = z.strictObject({
  query: z.string().min(1).max(500).describe("what the tool should do, in a few words, or its name"),
  group: z.string().max(64).optional().describe("only tools whose names begin with this"),
}) as unknown as Tool["parameters"]; // Arguments are validated before the call.

function findTools(run: RunContext, own: readonly Tool[]): Tool {
  return {
    name: "find_tools",
    description: `Finds tools by what they do; those found can be called from your next turn on. There are ${own.length}, by the beginning of their names: ${groupsOf(own)}.`,
    parameters,
    effect: "pure",
    local: true,
    call(input, { round, call }) {
      const { query, group } = input as { query: string; group?: string };
      const found = ranked(own, query, group);
      const names = found.map(({ name }) => name);
      if (names.length === 0) return `No tool fits. The groups are: ${groupsOf(own)}.`;
      run.emit({ type: "tools.found", round, call, names });
      return found.map(specOf).map(({ name, description, parameters }) => ({ name, description, parameters }));
    },
  };
}

/** `github (41), slack (12)`. */
function groupsOf(tools: readonly Tool[]): string {
  const sizes = new Map<string, number>();
  for (const { name } of tools) sizes.set(groupOf(name), (sizes.get(groupOf(name)) ?? 0) + 1);
  const groups = [...sizes].sort(([one, less], [other, more]) => more - less || (one < other ? -1 : 1));
  const told = groups.slice(0, mostGroups).map(([group, size]) => `${group} (${size})`);
  return [...told, ...(groups.length > mostGroups ? [`${groups.length - mostGroups} more`] : [])].join(", ");
}

/** The name up to the first separator. */
function groupOf(name: string): string {
  const end = [...name].findIndex((char, index) => index > 0 && (char === "_" || char === "-" || char === "."));
  return end < 0 ? name : name.slice(0, end);
}

/** Ranks tools by the number of query words in their name, then description; tools without a match are left out. */
function ranked(tools: readonly Tool[], query: string, group: string | undefined): readonly Tool[] {
  const words = [...new Set(wordsIn(query))];
  const scored = tools
    .filter(({ name }) => group === undefined || name.startsWith(group))
    .map((tool, index) => {
      const name = tool.name.toLowerCase();
      const description = tool.description.toLowerCase();
      let score = name === query.trim().toLowerCase() ? 1_000 : 0;
      for (const word of words) score += name.includes(word) ? 10 : description.includes(word) ? 1 : 0;
      return { tool, score, index };
    });
  const fit = scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.index - other.index);
  return fit.slice(0, mostFound).map(({ tool }) => tool);
}

const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]/u)
    .filter((word) => word.length > 1);
