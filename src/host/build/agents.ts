import type { AgentDefinition, Compaction, ModelChain } from "../../agent/run/definition.ts";
import { guardHooks } from "../../agent/run/guard-hooks.ts";
import { readSkillTool } from "../../agent/tools/read-skill.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { GenerationOptions } from "../../core/model/provider.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ActiveGuard } from "../../core/ports/guard.ts";
import { type Hooks, nameHooks } from "../../core/ports/hooks.ts";
import type { Log } from "../../core/ports/log.ts";
import type { MemoryRegistry } from "../../core/ports/notes.ts";
import type { ProviderRegistry, ToolRegistry } from "../../core/ports/registries.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import { type AgentSettings, defaultModel, type ModelSettings } from "../config/agents.ts";
import type { Config } from "../config/load.ts";
import { splitModel } from "../config/references.ts";
import { withResponses } from "../money/response-cache.ts";
import { agentRevision } from "./agent-revision.ts";
import { handoffTools } from "./handoffs.ts";
import { uniqueTools } from "./unique-tools.ts";
import { wholeAnswers } from "./whole-answers.ts";

export interface AgentDeps {
  readonly config: Config;
  readonly providers: Pick<ProviderRegistry, "get">;
  readonly tools: Pick<ToolRegistry, "get">;
  readonly memories: Pick<MemoryRegistry, "get">;
  readonly hooks: readonly Hooks[];
  readonly guards: ReadonlyMap<string, ActiveGuard>;
  readonly telemetry: Pick<Telemetry, "tool">;
  readonly log: Log;
  readonly journal: Pick<Journal, "keyValues">;
  readonly clock: Clock;
}

/** Builds the config's agents. */
export function buildAgents(deps: AgentDeps): ReadonlyMap<string, AgentDefinition> {
  const agents = Object.entries(deps.config.agents);
  return new Map(agents.map(([name, settings]) => [name, buildAgent(name, settings, deps)]));
}

function buildAgent(name: string, settings: AgentSettings, deps: AgentDeps): AgentDefinition {
  const lists = settings.tools.flatMap((entry) => {
    const list = deps.tools.get(entry);
    return list === undefined ? [] : [{ entry, list }];
  });
  const handoffs = handoffTools(settings, deps.config.agents).map((tool) => deps.telemetry.tool(tool));
  const skills = deps.config.skills.get(name);
  const shells = settings.tools.filter((entry) => deps.config.tools[entry]?.type === "shell");
  const reading = skills === undefined ? [] : [deps.telemetry.tool(readSkillTool(skills, shells))];
  const code = deps.config.code;
  const { hooks, revision: _, ...own } = code?.agents.get(name) ?? {};
  const guards = settings.guards.flatMap((entry) => deps.guards.get(entry) ?? []);
  return {
    ...own,
    name,
    description: settings.description,
    aliases: settings.aliases,
    instructions: settings.instructions,
    inputs: settings.inputs,
    model: buildChain(settings.model, deps),
    defaults: deps.config.defaults.options as GenerationOptions, // As in `buildChain`.
    options: settings.options as GenerationOptions,
    overrides: {
      ...settings.overrides,
      models: new Map(settings.overrides.models.map((model) => [model, buildChain(model, deps)])),
      options: new Set(settings.overrides.options),
    },
    tools: uniqueTools(
      name,
      [...lists, { entry: "handoffs", list: () => handoffs }, { entry: "skills", list: () => reading }],
      deps.log,
    ),
    ...(skills === undefined ? {} : { skills }),
    limits: { ...settings.limits, tokens: settings.limits.tokens, time: settings.limits.time },
    toolPolicy: settings.toolPolicy,
    compaction: compactionOf(settings.compaction, deps),
    ...recallOf(settings.memory, deps),
    output: settings.output,
    whenBusy: settings.whenBusy,
    hooks: [
      ...(code?.hooks ?? []).map((each) => nameHooks(each, "the application")),
      ...deps.hooks,
      ...(hooks === undefined ? [] : [nameHooks(hooks, `the agent ${name}`)]),
      // Guards run last, to see what other hooks produced.
      ...guardHooks(guards),
    ],
    ...(guards.length === 0 ? {} : { guards }),
    config: deps.config.hash,
    revision: agentRevision(name, settings, deps),
  };
}

function compactionOf(settings: AgentSettings["compaction"], deps: AgentDeps): Compaction {
  const { by, at, keep, model, instructions, results } = settings;
  return {
    by,
    at,
    keep,
    ...(model === undefined ? {} : { model: buildChain(model, deps) }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(results === undefined ? {} : { results: results.olderThan }),
  };
}

function recallOf({ recall }: AgentSettings["memory"], { memories }: AgentDeps): Pick<AgentDefinition, "recall"> {
  const notes = recall?.auto === true ? memories.get(recall.store) : undefined; // Undefined when its store is disabled.
  return recall === undefined || notes === undefined
    ? {}
    : { recall: { notes, scopes: recall.scopes, top: recall.top } };
}

/** `reference` is an entry of `models` or `provider/model`, already validated. */
function buildChain(reference: string, deps: AgentDeps, depth = 0): ModelChain {
  const { config, providers } = deps;
  const model = config.models[reference] ?? { ...defaultModel, chain: [reference] };
  if (model.split !== undefined) return splitChain(reference, model.split, { deps, depth });
  const { members, responses } = model;
  const targets = model.chain.flatMap((name) => {
    const { provider, model } = splitModel(name);
    const port = providers.get(provider);
    const member = members?.[name];
    return port === undefined
      ? []
      : [
          {
            name,
            provider,
            model,
            port: withResponses(port, { name, ...deps, settings: responses }),
            ...(member === undefined ? {} : { member }),
          },
        ];
  });
  return {
    name: reference,
    targets,
    failover: model.failover,
    retry: model.retry,
    timeout: model.timeout,
    cache: model.cache,
    options: model.options as GenerationOptions, // The schema has the type's keys, and treats "absent" and "undefined" alike.
    toolOptions: model.toolOptions as GenerationOptions,
    contextTokens: model.contextTokens ?? largestContext(model),
    ...routingOf(model),
    // An economy chain gets no economy of its own; two could name each other.
    ...(model.economy === undefined || depth > 0 ? {} : { economy: buildChain(model.economy, deps, 1) }),
    ...(model.shadow === undefined || depth > 0 ? {} : { shadow: shadowOf(model.shadow, deps) }),
  };
}

function shadowOf({ model, share, stream }: NonNullable<ModelSettings["shadow"]>, deps: AgentDeps) {
  const chain = buildChain(model, deps, 1);
  return { model: stream ? chain : wholeAnswers(chain), share };
}

function splitChain(
  name: string,
  split: NonNullable<ModelSettings["split"]>,
  { deps, depth }: { readonly deps: AgentDeps; readonly depth: number },
): ModelChain {
  const members = Object.entries(split).map(([member, weight]) => {
    return { name: member, weight, chain: buildChain(member, deps, depth) };
  });
  const targets = new Map(members.flatMap(({ chain }) => chain.targets).map((target) => [target.name, target]));
  const [first] = members;
  if (first === undefined) throw new VenturiError("model.build", "config_invalid", `the split ${name} has no members`);
  const { routing: _, economy: __, shadow: ___, ...chain } = first.chain;
  return { ...chain, name, targets: [...targets.values()], contextTokens: undefined, split: members };
}

/** Conversations are compacted for the model with the largest context; models they do not fit are skipped. */
function largestContext({ chain, members }: Pick<ModelSettings, "chain" | "members">): number | undefined {
  const sizes = chain.flatMap((name) => members?.[name]?.contextTokens ?? []);
  return sizes.length === 0 || sizes.length < chain.length ? undefined : Math.max(...sizes);
}

function routingOf({ choose, sticky, members, hedge }: Omit<ModelSettings, "chain">): Pick<ModelChain, "routing"> {
  if (choose === undefined && members === undefined && hedge === undefined) return {};
  return { routing: { choose: choose ?? "order", sticky: sticky ?? true, hedgeAfter: hedge?.after } };
}
