import type { Native, ToolChoice, ToolSpec } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";
import { messagesWire } from "./blocks.ts";

const CustomTool = z.looseObject({
  type: z.literal("custom").nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
});
/** A vendor-defined tool: `web_search_…`, executed by the vendor, or `bash_…`, executed by the client. */
const VendorTool = z.looseObject({
  type: z
    .string()
    .refine((type) => type !== "custom", { abort: true, error: "a custom tool has a name and an input_schema" }),
  name: z.string().optional(),
});
export const Tool = z.union([VendorTool, CustomTool]);
type Tool = z.output<typeof Tool>;

const customFields = { carried: new Set(["name", "description", "input_schema"]) };

export function toolSpec(tool: Tool): ToolSpec {
  if (!isCustom(tool)) {
    return {
      name: tool.name ?? tool.type,
      description: "",
      parameters: {},
      native: { wire: messagesWire, fields: tool },
    };
  }
  const spec = { name: tool.name, description: tool.description ?? "", parameters: tool.input_schema };
  if (tool.type === "custom") {
    const translated = ["type", ...customFields.carried];
    return { ...spec, native: { wire: messagesWire, fields: tool, translated } };
  }
  // Keeps the client's schema unchanged, even without a type.
  const { native } = nativeOf(messagesWire, tool, customFields);
  return { ...spec, native: native ?? { wire: messagesWire, fields: {} } };
}

const isCustom = (tool: Tool): tool is z.output<typeof CustomTool> => tool.type == null || tool.type === "custom";

export const Choice = z.union([
  z.looseObject({ type: z.enum(["auto", "any", "none"]) }),
  z.looseObject({ type: z.literal("tool"), name: z.string() }),
]);

const choiceFields = {
  carried: new Set(["type", "name"]),
  at: "tool_choice.",
  defaults: { disable_parallel_tool_use: false },
};

export function chosen(choice: z.output<typeof Choice> | null | undefined): {
  toolChoice?: ToolChoice;
  nativeChoice?: Native;
} {
  if (choice == null) return {};
  const { native } = nativeOf(messagesWire, choice, choiceFields);
  return { toolChoice: toolChoice(choice), ...(native === undefined ? {} : { nativeChoice: native }) };
}

function toolChoice(choice: z.output<typeof Choice>): ToolChoice {
  if (choice.type === "tool") return { name: choice.name as string }; // The schema of that type has it.
  return choice.type === "any" ? "required" : choice.type;
}
