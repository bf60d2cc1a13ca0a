import { z } from "zod";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import { systemClock } from "../core/ports/clock.ts";
import { silentLog } from "../core/ports/log.ts";
import type { PluginContext } from "../core/ports/plugin.ts";
import { isToolSource, type Tool, type ToolContext, type ToolOutput, type ToolSource } from "../core/ports/tool.ts";
import { isSchema, type Schema } from "../core/values/schema.ts";

/** A plugin context for tests; omitted members are harmless, or throw when used. */
export function testPluginContext(given: Partial<PluginContext> = {}): PluginContext {
  return {
    name: "test",
    log: silentLog,
    clock: systemClock,
    folder: process.cwd(),
    runs: () => {
      throw new VenturiError("test.context", "internal", "this test gave no runs");
    },
    resolve: (token) => {
      throw new VenturiError("test.context", "internal", `this test gave no ${token.description}`);
    },
    plugin: async (name) => {
      throw new VenturiError("test.context", "internal", `this test gave no plugin "${name}"`);
    },
    ...given,
  };
}

export interface ToolTrial {
  readonly output: ToolOutput;
  readonly progress: readonly string[];
}

let calls = 0;

/** Calls a tool as the loop does: arguments validated, progress collected, a stream run to its end. */
export async function callTool(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  given: Partial<ToolContext> = {},
): Promise<ToolTrial> {
  const progress: string[] = [];
  const context: ToolContext = { ...silentToolContext(), progress: (text) => progress.push(text), ...given };
  const started = tool.call(await checkedInput(tool, input), context);
  const output = isStream(started) ? await drain(started, context) : await started;
  return { output, progress };
}

/** The context of a call that nobody follows. */
export function silentToolContext(): ToolContext {
  const id = `call_${++calls}`;
  return {
    run: "run_test",
    round: 1,
    call: id,
    agent: "test",
    attempt: 1,
    tenant: "default",
    idempotencyKey: `run_test:${id}`,
    signal: new AbortController().signal,
    log: silentLog,
    context: undefined,
    stored: undefined,
    depth: 0,
    progress: () => {},
    record: () => {},
    budget: () => ({ maxToolCalls: 64 }),
    spent: () => {},
    // There is nobody to answer.
    transfer: async (agent) => {
      throw new VenturiError("test.context", "tool_failed", `this test has no agent "${agent}"`);
    },
    ask: async ({ settled }) => settled ?? { approved: false, reason: "this test answers no questions" },
  };
}

/** The tool itself, or the one a source lists under that name. */
export function toolNamed(source: Tool | ToolSource, name: string): Tool {
  const tools = isToolSource(source) ? source.list() : [source];
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name).join(", ");
  throw new VenturiError("test.context", "tool_not_found", `no tool "${name}" among ${names}`);
}

/** The input after validation by the tool's schema; throws if it does not fit. */
async function checkedInput(tool: Tool, input: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const result = await schemaOf(tool)["~standard"].validate(input);
  if (result.issues === undefined) return result.value;
  const [first] = result.issues;
  const message = `the arguments of ${tool.name} do not fit: ${first?.message ?? ""}`;
  throw new VenturiError("tool.check", "tool_invalid_arguments", message, { details: { issues: result.issues } });
}

export function schemaOf(tool: Tool): Schema<unknown, Record<string, unknown>> {
  if (isSchema(tool.parameters)) return tool.parameters as Schema<unknown, Record<string, unknown>>;
  try {
    return z.fromJSONSchema(tool.parameters as never) as unknown as Schema<unknown, Record<string, unknown>>; // May be a JSON Schema.
  } catch (thrown) {
    throw wrap("tool.define", thrown, "config_invalid");
  }
}

export const jsonSchemaOf = (tool: Tool): Readonly<Record<string, unknown>> =>
  isSchema(tool.parameters)
    ? tool.parameters["~standard"].jsonSchema.input({ target: "draft-2020-12" })
    : tool.parameters;

async function drain(stream: AsyncIterable<string, ToolOutput>, context: ToolContext): Promise<ToolOutput> {
  const iterator = stream[Symbol.asyncIterator]();
  let last: string | undefined;
  for (let step = await iterator.next(); ; step = await iterator.next()) {
    if (step.done) return step.value ?? last;
    last = step.value;
    context.progress(last);
  }
}

const isStream = (value: unknown): value is AsyncIterable<string, ToolOutput> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;
