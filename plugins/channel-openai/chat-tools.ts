import { joinNative } from "venturi/internal";
import type { Native, ToolChoice, ToolSpec } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";
import { chatWire } from "./chat-content.ts";
import { freeText } from "./content.ts";

const FunctionBody = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});
const FunctionTool = z.looseObject({ type: z.literal("function"), function: FunctionBody });
const CustomTool = z.looseObject({
  type: z.literal("custom"),
  custom: z.looseObject({ name: z.string(), description: z.string().nullish() }),
});
const OtherTool = z.looseObject({
  type: z.string().refine((type) => type !== "function" && type !== "custom", { abort: true }),
});

export const Tools = z.array(z.union([FunctionTool, CustomTool, OtherTool]));
export const LegacyFunctions = z.array(FunctionBody);

export function toolSpecs(tools: z.output<typeof Tools>): ToolSpec[] {
  return tools.map((tool): ToolSpec => {
    if (isFunction(tool)) {
      const native = joinNative(
        nativeOf(chatWire, tool, toolFields),
        nativeOf(chatWire, tool.function, functionFields),
      );
      return { ...functionSpec(tool.function), ...native };
    }
    if (isCustom(tool)) return customSpec(tool);
    return { name: tool.type, description: "", parameters: {}, native: { wire: chatWire, fields: tool } };
  });
}

/** Free-text tools, whose calls have their own format. */
export const customNames = (tools: z.output<typeof Tools>): ReadonlySet<string> =>
  new Set(tools.flatMap((tool) => (isCustom(tool) ? [tool.custom.name] : [])));

/** The legacy `functions`, offered as tools. */
export const legacySpecs = (functions: z.output<typeof LegacyFunctions>): ToolSpec[] =>
  functions.map((each) => ({ ...functionSpec(each), ...nativeOf(chatWire, each, functionFields) }));

const isFunction = (tool: { type: string }): tool is z.output<typeof FunctionTool> => tool.type === "function";
const isCustom = (tool: { type: string }): tool is z.output<typeof CustomTool> => tool.type === "custom";

const toolFields = { carried: new Set(["type", "function"]) };
const functionFields = {
  carried: new Set(["name", "description", "parameters"]),
  at: "function.",
  defaults: { strict: false },
};

const functionSpec = ({ name, description, parameters }: z.output<typeof FunctionBody>): ToolSpec => ({
  name,
  description: description ?? "",
  parameters: parameters ?? { type: "object", properties: {} },
});

/** A free-text tool; on other wires a function with one argument, without its `format`. */
function customSpec(tool: z.output<typeof CustomTool>): ToolSpec {
  const { name, description, format } = tool.custom;
  const isFree = format == null || asRecord(format).type === "text";
  return {
    name,
    description: description ?? "",
    parameters: freeText,
    native: { wire: chatWire, fields: tool, translated: isFree ? ["type", "custom"] : ["type"] },
  };
}

export const Choice = z.union([
  z.enum(["auto", "none", "required"]),
  z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
  z.looseObject({ type: z.literal("custom"), custom: z.looseObject({ name: z.string() }) }),
  z.looseObject({
    type: z.literal("allowed_tools"),
    allowed_tools: z.looseObject({ mode: z.enum(["auto", "required"]) }),
  }),
]);

export interface Chosen {
  readonly toolChoice?: ToolChoice;
  readonly nativeChoice?: Native;
}

export function chosen(choice: z.output<typeof Choice> | null | undefined): Chosen {
  if (choice == null) return {};
  if (typeof choice === "string") return { toolChoice: choice };
  if (choice.type === "function") return { toolChoice: { name: choice.function.name } };
  const fields = { tool_choice: choice };
  if (choice.type === "custom") {
    return {
      toolChoice: { name: choice.custom.name },
      nativeChoice: { wire: chatWire, fields, translated: ["tool_choice"] },
    };
  }
  return { toolChoice: choice.allowed_tools.mode, nativeChoice: { wire: chatWire, fields } };
}
