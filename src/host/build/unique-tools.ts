import { VenturiError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Tool } from "../../core/tool.ts";

/** An entry of `tools` and what it stands for now. */
export interface ToolList {
  readonly entry: string;
  readonly list: () => readonly Tool[];
}

/** Names that the runtime's own tools have. */
const reserved: ReadonlyMap<string, string> = new Map([["read_result", "the runtime"]]);

/**
 * The tools of an agent, no name twice: a server that named one of its tools like a trusted one would get the arguments meant
 * for that. Two at the start are a mistake in the config; a name that comes later belongs to the entry that had it first, for
 * as long as the config stands, and another's tool of that name is left out.
 */
export function uniqueTools(agent: string, lists: readonly ToolList[], log: Log): () => readonly Tool[] {
  const owners = new Map(reserved);
  const told = new Set<string>();
  for (const { entry, list } of lists) {
    for (const { name } of list()) {
      const owner = owners.get(name);
      if (owner !== undefined) throw collision(agent, name, [owner, entry]);
      owners.set(name, entry);
    }
  }
  return () => {
    const tools: Tool[] = [];
    for (const { entry, list } of lists) {
      for (const tool of list()) {
        const owner = owners.get(tool.name);
        if (owner === undefined) owners.set(tool.name, entry);
        if ((owner ?? entry) === entry) tools.push(tool);
        else if (!told.has(`${entry} ${tool.name}`)) {
          told.add(`${entry} ${tool.name}`);
          log.error("a tool is left out: another has its name", { agent, tool: tool.name, entry, owner });
        }
      }
    }
    return tools;
  };
}

const collision = (agent: string, name: string, [first, second]: readonly [string, string]): VenturiError =>
  new VenturiError(
    "tool.create",
    "config_invalid",
    `agents.${agent}.tools: "${name}" is a tool of both ${first} and ${second}; give one of them another name or a \`prefix\``,
  );
