import { readSchema } from "../../agent/schema/json-schema.ts";
import { checkUsable } from "../../agent/schema/standard.ts";
import { checkCondition } from "../../agent/tools/condition.ts";
import { knownKeys } from "../../core/errors/complaints.ts";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import { isToolSource, type Tool, type ToolSource } from "../../core/ports/tool.ts";
import { overriding } from "../../core/values/overriding.ts";
import { isSchema } from "../../core/values/schema.ts";
import type { ToolEntry } from "../config/entries.ts";

/** The tools an entry currently offers, with config settings and instrumentation applied. */
export function toolsOf(
  entry: ToolEntry,
  instance: Tool | ToolSource,
  { telemetry, log }: { readonly telemetry: Telemetry; readonly log: Log },
): () => readonly Tool[] {
  if (!isToolSource(instance)) {
    checkSchema(instance);
    checkApproval(entry, [instance]);
    const tools = [telemetry.tool(configured(entry, instance, entry.name))];
    return () => tools;
  }
  checkApproval(entry, instance.list());
  // A source is read every round; unchanged tools keep their identity, which keys the schema cache.
  const known = new WeakMap<Tool, readonly Tool[]>();
  return () =>
    instance.list().flatMap((tool) => {
      const before = known.get(tool);
      if (before !== undefined) return before;
      if (entry.type === "code") checkSchema(tool); // A mistake in the program, found when it opens.
      const made = isUsable(entry, tool, log) ? [telemetry.tool(configured(entry, tool, tool.name))] : [];
      known.set(tool, made);
      return made;
    });
}

/** A source without tools, such as a server that is down, cannot be checked. */
export function checkApproval({ name, approval }: ToolEntry, tools: readonly Tool[]): void {
  if (typeof approval !== "object" || approval === null || approval.when === undefined) return;
  const described = tools.filter(({ parameters }) => !isSchema(parameters));
  if (described.length < tools.length) return;
  try {
    checkCondition(approval.when, described);
  } catch (thrown) {
    throw new VenturiError("tool.create", "config_invalid", `tools.${name}.approval: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/** A server's tool with an unusable schema is left out; its other tools still work. */
function isUsable(entry: ToolEntry, tool: Tool, log: Log): boolean {
  try {
    checkSchema(tool);
    return true;
  } catch (thrown) {
    log.warn("tool skipped", { source: entry.name, tool: tool.name, error: messageOf(thrown) });
    return false;
  }
}

function checkSchema({ parameters, name }: Tool): void {
  try {
    if (isSchema(parameters)) checkUsable(parameters);
    else readSchema(parameters);
  } catch (thrown) {
    const message = `the parameters of the tool "${name}": ${messageOf(thrown)}`;
    throw new VenturiError("tool.create", "config_invalid", message, { cause: thrown });
  }
}

/** The config overrides the tool's own settings, except keys that the plugin reads itself. */
function configured(entry: ToolEntry, tool: Tool, name: string): Tool {
  const own = new Set(knownKeys(entry.loaded.plugin.options, []));
  const first = <Value>(key: string, said: Value | undefined, known: Value | undefined) =>
    own.has(key) ? (known ?? said) : (said ?? known);
  const approval = first<Tool["approval"]>("approval", entry.approval, tool.approval);
  const timeout = first("timeout", entry.timeout, tool.timeout);
  const maxOutput = first("maxOutput", entry.maxOutput, tool.maxOutput);
  const effect = first("effect", entry.effect, tool.effect);
  return overriding(tool, {
    name,
    ...(effect === undefined ? {} : { effect }),
    ...(approval === undefined ? {} : { approval }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
  });
}
