import { hash } from "node:crypto";
import type { Message } from "../../core/model/messages.ts";
import type { GenerationRequest, ToolChoice } from "../../core/model/provider.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { ModelTarget } from "../run/definition.ts";
import { instructionsFor } from "../run/inputs.ts";
import type { RunContext } from "../run/run-context.ts";
import { withSkills } from "../run/skills.ts";
import { deferredTools } from "../tools/find-tools.ts";
import { readResultTool } from "../tools/read-result.ts";
import { ToolTable } from "../tools/tool-table.ts";
import { conversationFor } from "./conversation.ts";
import { estimateMessage } from "./estimate.ts";
import { optionsFor } from "./options.ts";
import { recalledFor, withRecalled } from "./recall.ts";
import { takeableBy } from "./takeable.ts";
import { estimateTools, withinLimits } from "./token-room.ts";
import { withoutForeignSignatures } from "./vendor-proofs.ts";

/** The tools of one round: the agent's, the client's, and `read_result` once an output was truncated or may be folded. */
export function toolsFor(run: RunContext): ToolTable {
  const own = run.agent.tools();
  const { clientTools } = run.deps.request;
  const deferred = deferredTools(run, own);
  // Found tools follow after these: their list only grows, so the prompt prefix stays the same.
  if (deferred !== undefined) {
    const [find, ...found] = deferred;
    return new ToolTable([...(find === undefined ? [] : [find]), readResultTool(run), ...found], clientTools);
  }
  // Offered from the first round on when results may be folded, to keep the prompt prefix stable.
  if (run.state.cutResults.size > 0 || run.agent.compaction?.results !== undefined)
    return new ToolTable([...own, readResultTool(run)], clientTools);
  if (clientTools !== undefined && (clientTools.length > 0 || own.length === 0)) return new ToolTable(own, clientTools);
  const known = tables.get(own);
  if (known !== undefined) return known;
  const table = new ToolTable(own);
  tables.set(own, table);
  return table;
}

/** Cached by the agent's tool list, which most rounds of most runs share. */
const tables = new WeakMap<readonly Tool[], ToolTable>();

/** The round's generation request. */
export async function requestFor(run: RunContext, target: ModelTarget, tools: ToolTable): Promise<GenerationRequest> {
  const { agent, state } = run;
  const { request } = run.deps;
  const kept = state.active === undefined ? ownInstructions(run) : state.active.instructions;
  const own = kept ?? instructionsFor(agent, state.started?.input ?? request.input);
  const instructions = withSkills(own, state.skills);
  const system: Message[] =
    instructions === "" ? [] : [{ role: "system", parts: [{ type: "text", text: instructions }] }];
  if (request.instructions !== undefined) system.push(...(await run.content.load([request.instructions])));
  const { contextTokens } = agent.model;
  const recalled = agent.recall === undefined && state.recalled === undefined ? undefined : await recalledFor(run);
  const reserved =
    contextTokens === undefined
      ? 0
      : sum([...system, ...(recalled === undefined ? [] : [recalled])].map(estimateMessage)) +
        estimateTools(tools.specs);
  const messages = await conversationFor(run, reserved);
  const conversation = await run.content.load(
    takeableBy(withoutForeignSignatures(messages, target.provider), target.port.capabilities),
  );
  const offered = tools.specs.length > 0;
  const output = request.output ?? (agent.output && { name: agent.name, schema: agent.output });
  const toolChoice = offered ? choiceFor(request.toolChoice, state.toolRounds) : undefined;
  const asked: GenerationRequest = {
    model: target.model,
    messages: [...system, ...(recalled === undefined ? conversation : withRecalled(run, conversation, recalled))],
    tools: tools.specs,
    options: optionsFor(agent, request, tools),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(toolChoice === undefined || request.nativeChoice === undefined ? {} : { nativeChoice: request.nativeChoice }),
    ...(request.native === undefined ? {} : { native: request.native }),
    ...(output === undefined ? {} : { output }),
    ...cacheOf(run),
  };
  const hooked = run.hooks.empty ? asked : await run.hooks.beforeGeneration(asked, state.roundsFinished + 1);
  return withinLimits(run, hooked);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((left, right) => left + right, 0);

/** Instructions that the agent's function wrote for this run; a fork may have been given different ones. */
const ownInstructions = ({ state, deps }: RunContext): string | undefined =>
  deps.request.fork?.instructions === undefined ? state.started?.instructions : undefined;

/**
 * The prompt cache key: one per session, or the one the client sent. Hashed because a session name may identify a person, and with the
 * tenant so that nobody can choose another tenant's key.
 */
function cacheOf({ agent, deps }: RunContext): Pick<GenerationRequest, "cache"> {
  const { cache: mode = "auto" } = agent.model;
  const { session, native } = deps.request;
  const asked = native?.fields.prompt_cache_key;
  const shared = typeof asked === "string" && asked !== "" ? `${deps.tenant ?? defaultTenant}\n${asked}` : session;
  if (shared === undefined) return { cache: { mode } };
  const key = hash("sha256", `${agent.name}\n${shared}`, "base64url").slice(0, 32);
  return { cache: { mode, key } };
}

/** A forced tool choice applies to the first tool round only; repeated, the run would never end. */
const choiceFor = (choice: ToolChoice | undefined, rounds: number): ToolChoice | undefined =>
  rounds > 0 && choice !== "none" && choice !== "auto" ? undefined : choice;
