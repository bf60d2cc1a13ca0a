import { VenturiError } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Tool } from "../../core/ports/tool.ts";

/** An entry of `tools` and its current tools. */
export interface ToolList {
  readonly entry: string;
  readonly list: () => readonly Tool[];
}

/** Names of built-in tools. */
const reserved: ReadonlyMap<string, string> = new Map([["read_result", "the runtime"]]);

/**
 * An agent's tools with unique names: a server that named its tool like a trusted one would receive that tool's arguments. A
 * duplicate at startup is a config error. Later, a name belongs to the entry that had it first, for the lifetime of the config,
 * and other entries' tools of that name are left out.
 */
export function uniqueTools(agent: string, lists: readonly ToolList[], log: Log): () => readonly Tool[] {
  const owners = new Map(reserved);
  const reported = new Set<string>();
  for (const { entry, list } of lists) {
    for (const { name } of list()) {
      const owner = owners.get(name);
      if (owner !== undefined) throw collision(agent, name, [owner, entry]);
      owners.set(name, entry);
    }
  }
  let before: readonly Tool[] = [];
  return () => {
    const tools: Tool[] = [];
    for (const { entry, list } of lists) {
      for (const tool of list()) {
        const owner = owners.get(tool.name);
        if (owner === undefined) owners.set(tool.name, entry);
        if ((owner ?? entry) === entry) tools.push(tool);
        else if (!reported.has(`${entry} ${tool.name}`)) {
          reported.add(`${entry} ${tool.name}`);
          log.error("tool skipped: its name is already in use", { agent, tool: tool.name, entry, owner });
        }
      }
    }
    // Returns the same array while nothing changed, so that values derived from it can be cached.
    const same = tools.length === before.length && tools.every((tool, index) => tool === before[index]);
    if (!same) before = tools;
    return before;
  };
}

const collision = (agent: string, name: string, [first, second]: readonly [string, string]): VenturiError =>
  new VenturiError(
    "tool.create",
    "config_invalid",
    `agents.${agent}.tools: "${name}" is a tool of both ${first} and ${second}; give one of them another name or a \`prefix\``,
  );
