import type { AgentDefinition } from "../../agent/run/definition.ts";
import { specOf } from "../../agent/tools/tool-table.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { ToolSpec } from "../../core/model/provider.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Tool } from "../../core/ports/tool.ts";

const space = "venturi.agents";
/** Of a value in the journal. */
const longest = 200_000;

/** What models see of an agent's revision; nothing of a run is in it. */
interface Frame {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly options: AgentDefinition["options"];
  readonly defaults: AgentDefinition["defaults"];
  readonly output: AgentDefinition["output"] | null;
}

/** Agents as they were: kept once per revision, so that prompts can be seen after the configuration has changed. */
export class AgentFrames {
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #kept = new Set<string>();

  constructor(journal: Journal, log: Log) {
    this.#journal = journal;
    this.#log = log;
  }

  /** Written behind the run that needs it first; without it a prompt is shown as the configuration is then. */
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

  /** The agent as it was in this revision; undefined when that is not known. */
  async of(agent: AgentDefinition, revision: string | undefined): Promise<AgentDefinition | undefined> {
    const found = await this.#journal.keyValues?.get(space, `${agent.name}@${revision}`);
    if (found === undefined) return revision === agent.revision ? agent : undefined;
    const { instructions, tools, options, defaults, output } = JSON.parse(found.value) as Frame; // written above
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
