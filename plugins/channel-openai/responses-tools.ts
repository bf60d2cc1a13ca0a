import type { Native, ToolChoice, ToolSpec } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";
import { freeText } from "./content.ts";
import { responsesWire } from "./responses-content.ts";

const FunctionTool = z.looseObject({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});
const CustomTool = z.looseObject({
  type: z.literal("custom"),
  name: z.string(),
  description: z.string().nullish(),
});
const NamespaceTool = z.looseObject({
  type: z.literal("namespace"),
  name: z.string().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
});
const known: ReadonlySet<string> = new Set(["function", "custom", "namespace"]);
const OtherTool = z.looseObject({ type: z.string().refine((type) => !known.has(type), { abort: true }) });

export const Tool = z.union([FunctionTool, CustomTool, NamespaceTool, OtherTool]);
export type Tool = z.output<typeof Tool>;
type FunctionTool = z.output<typeof FunctionTool>;
type CustomTool = z.output<typeof CustomTool>;
type NamespaceTool = z.output<typeof NamespaceTool>;

const isFunction = (tool: Record<string, unknown>): tool is FunctionTool => FunctionTool.safeParse(tool).success;
const isCustom = (tool: Tool): tool is CustomTool => tool.type === "custom";
const isNamespace = (tool: Tool): tool is NamespaceTool => tool.type === "namespace";

/** The client's tools in order, with unique names. */
export function toolSpecs(tools: readonly Tool[]): ToolSpec[] {
  const specs: ToolSpec[] = [];
  const taken = new Set<string>();
  for (const tool of tools) {
    for (const spec of isNamespace(tool) ? namespaceSpecs(tool, taken) : [specOf(tool, taken)]) {
      taken.add(spec.name);
      specs.push(spec);
    }
  }
  return specs;
}

function specOf(tool: Tool, taken: ReadonlySet<string>): ToolSpec {
  if (isFunction(tool)) {
    const { native } = nativeOf(responsesWire, tool, functionFields);
    return { ...functionSpec(tool), native: native ?? { wire: responsesWire, fields: {} } };
  }
  if (isCustom(tool)) return customSpec(tool);
  // Vendor calls that the client must execute arrive under this name.
  const name = tool.type.startsWith("computer") ? "computer" : tool.type;
  const native = { wire: responsesWire, fields: tool };
  return { name: free(name, taken), description: "", parameters: {}, native };
}

function free(name: string, taken: ReadonlySet<string>): string {
  for (let copy = 2, tried = name; ; copy++) {
    if (!taken.has(tried)) return tried;
    tried = `${name}_${copy}`;
  }
}

const functionFields = { carried: new Set(["type", "name", "description", "parameters"]), defaults: { strict: false } };

const functionSpec = ({ name, description, parameters }: FunctionTool): ToolSpec => ({
  name,
  description: description ?? "",
  parameters: parameters ?? { type: "object", properties: {} },
});

/** A free-text tool; on other wires a function with one argument, without its `format`. */
function customSpec(tool: CustomTool): ToolSpec {
  const isFree = tool.format == null || asRecord(tool.format).type === "text";
  const translated = Object.keys(tool).filter((field) => field !== "format" || isFree);
  return {
    name: tool.name,
    description: tool.description ?? "",
    parameters: freeText,
    native: { wire: responsesWire, fields: tool, translated },
  };
}

/** Functions in a namespace; on other wires separate tools. The first of them carries the original definition. */
function namespaceSpecs(tool: NamespaceTool, taken: ReadonlySet<string>): ToolSpec[] {
  const whole: Native = { wire: responsesWire, fields: tool, translated: Object.keys(tool) };
  const functions = (tool.tools ?? []).filter(isFunction).filter(({ name }) => !taken.has(name));
  if (functions.length === 0) {
    return [
      {
        name: free(tool.name ?? tool.type, taken),
        description: "",
        parameters: {},
        native: { wire: responsesWire, fields: tool },
      },
    ];
  }
  return functions.map((each, index) => ({
    ...functionSpec(each),
    native: index === 0 ? whole : { wire: responsesWire, fields: {}, within: true },
  }));
}

/** How to format a client's calls: which tools take free text, and which are in a namespace. */
export interface ToolForms {
  readonly custom: ReadonlySet<string>;
  /** Tools whose calls are emitted when complete: custom and vendor ones. */
  readonly whole: ReadonlySet<string>;
  readonly namespaces: ReadonlyMap<string, string>;
}

export function toolForms(specs: readonly ToolSpec[]): ToolForms {
  const custom = new Set<string>();
  const whole = new Set<string>();
  const namespaces = new Map<string, string>();
  for (const { name, native } of specs) {
    const { type, name: space, tools } = native?.fields ?? {};
    if (type === "custom") custom.add(name);
    if (type !== undefined && type !== "namespace") whole.add(name);
    if (type !== "namespace" || typeof space !== "string" || !Array.isArray(tools)) continue;
    for (const each of tools) namespaces.set(String(asRecord(each).name), space);
  }
  return { custom, whole, namespaces };
}

/** The tools as the client sent them. */
export const toolsOf = (specs: readonly ToolSpec[]): Record<string, unknown>[] =>
  specs.flatMap(({ name, description, parameters, native }) => {
    if (native?.within) return [];
    if (native?.fields.type !== undefined) return [native.fields];
    return [{ type: "function", name, description: description || null, parameters, strict: false, ...native?.fields }];
  });

export const Choice = z.union([
  z.enum(["auto", "none", "required"]),
  z.looseObject({ type: z.enum(["function", "custom"]), name: z.string() }),
  z.looseObject({ type: z.literal("allowed_tools"), mode: z.enum(["auto", "required"]) }),
  z.looseObject({
    type: z.string().refine((type) => !["function", "custom", "allowed_tools"].includes(type), { abort: true }),
  }),
]);

export interface Chosen {
  readonly toolChoice?: ToolChoice;
  readonly nativeChoice?: Native;
}

export function chosen(choice: z.output<typeof Choice> | null | undefined): Chosen {
  if (choice == null) return {};
  if (typeof choice === "string") return { toolChoice: choice };
  const native = { wire: responsesWire, fields: { tool_choice: choice } };
  if (choice.type === "function" || choice.type === "custom") {
    return { toolChoice: { name: String(choice.name) }, nativeChoice: { ...native, translated: ["tool_choice"] } };
  }
  const mode = choice.type === "allowed_tools" && choice.mode === "auto" ? "auto" : "required";
  return { toolChoice: mode, nativeChoice: native };
}
