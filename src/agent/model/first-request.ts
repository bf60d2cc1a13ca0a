import type { Message } from "../../core/model/messages.ts";
import type { GenerationRequest } from "../../core/model/provider.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { AgentDefinition } from "../run/definition.ts";
import { instructionsFor } from "../run/inputs.ts";
import { withSkills } from "../run/skills.ts";
import { inputMessages } from "../state/input-messages.ts";
import { ToolTable } from "../tools/tool-table.ts";
import { optionsFor } from "./options.ts";

/** The first generation request such a run would make, for checks before it starts. */
export function firstRequest(
  agent: AgentDefinition,
  asked: RunRequest,
  { model, session = [] }: { readonly model: string; readonly session?: readonly Message[] },
): GenerationRequest {
  const { input, clientTools, instructions, toolChoice, output, native, nativeChoice } = asked;
  const own = withSkills(instructionsFor(agent, input), agent.skills);
  const system: Message[] = own === "" ? [] : [{ role: "system", parts: [{ type: "text", text: own }] }];
  if (instructions !== undefined) system.push(instructions);
  const tools = new ToolTable(agent.tools(), clientTools);
  return {
    model,
    messages: [...system, ...session, ...inputMessages(input)],
    tools: tools.specs,
    options: optionsFor(agent, asked, tools),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(output === undefined ? {} : { output }),
    ...(native === undefined ? {} : { native }),
    ...(nativeChoice === undefined ? {} : { nativeChoice }),
  };
}
