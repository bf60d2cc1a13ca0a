import type { AgentDefinition } from "../../agent/run/definition.ts";
import { specOf } from "../../agent/tools/tool-table.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { ToolSpec } from "../../core/model/provider.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Tool } from "../../core/ports/tool.ts";

const space = "venturi.agents";
/** Maximum length of a journal value, below its limit of 256 KiB. */
const longest = 200_000;

/** What models see of an agent's revision, independent of any run. */
interface Frame {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly options: AgentDefinition["options"];
  readonly defaults: AgentDefinition["defaults"];
  readonly output: AgentDefinition["output"] | null;
}

/** Agents of past revisions: stored once per revision, so that prompts can be shown after a config change. */
export class AgentFrames {
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #kept = new Set<string>();

  constructor(journal: Journal, log: Log) {
    this.#journal = journal;
    this.#log = log;
  }

  /** Stores the agent in the background; without it, prompts are shown with the current configuration. */
  keep(agent: AgentDefinition): void {
    const key = `${agent.name}@${agent.revision}`;
    const { keyValues } = this.#journal;
    if (keyValues === undefined || this.#kept.has(key)) return;
    this.#kept.add(key);
    const { instructions, options, defaults, output = null } = agent;
    const frame: Frame = { instructions, options, defaults, output, tools: agent.tools().map(specOf) };
    const value = JSON.stringify(frame);
    if (key.length > 500 || value.length > longest) return;
    keyValues.put(space, { key, value, version: 0 }).catch((thrown: unknown) => {
      this.#kept.delete(key);
      this.#log.debug("an agent's revision was not kept", { agent: agent.name, error: String(thrown) });
    });
  }

  /** The agent as of this revision; undefined if unknown. */
  async of(agent: AgentDefinition, revision: string | undefined): Promise<AgentDefinition | undefined> {
    const found = await this.#journal.keyValues?.get(space, `${agent.name}@${revision}`);
    if (found === undefined) return revision === agent.revision ? agent : undefined;
    const { instructions, tools, options, defaults, output } = JSON.parse(found.value) as Frame; // Written above.
    const offered = tools.map(toolOf);
    return { ...agent, instructions, options, defaults, output: output ?? undefined, tools: () => offered };
  }
}

const toolOf = (spec: ToolSpec): Tool => ({
  name: spec.name,
  description: spec.description,
  parameters: spec.parameters,
  ...(spec.aliases === undefined ? {} : { aliases: spec.aliases }),
  call: () => "",
});
