import { joinNative } from "venturi/internal";
import type { Message, Native, Part, ToolCallPart } from "venturi/plugin";
import { nativeOf } from "venturi/plugin/channel";
import { z } from "zod";
import { Content, chatWire, contentParts } from "./chat-content.ts";
import { callArguments, invalid, resultParts } from "./content.ts";

const FunctionCall = z.looseObject({
  id: z.string(),
  type: z.literal("function").optional(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const CustomCall = z.looseObject({
  id: z.string(),
  type: z.literal("custom"),
  custom: z.looseObject({ name: z.string(), input: z.string() }),
});

export const ChatMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer"]), content: Content }),
  z.looseObject({ role: z.literal("user"), content: Content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: Content.nullish(),
    tool_calls: z.array(z.union([FunctionCall, CustomCall])).nullish(),
    function_call: z.looseObject({ name: z.string(), arguments: z.string() }).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string(), content: Content }),
  z.looseObject({ role: z.literal("function"), name: z.string(), content: Content.nullish() }),
]);
export type ChatMessage = z.output<typeof ChatMessage>;
type Assistant = Extract<ChatMessage, { role: "assistant" }>;

export function toMessages(messages: readonly ChatMessage[]): Message[] {
  const conversation = new Conversation();
  return messages.map((message) => conversation.message(message));
}

const plainFields = { carried: new Set(["role", "content"]) };
const developerFields = { carried: new Set(["content"]), translated: new Set(["role"]) };
const assistantFields = { carried: new Set(["role", "content", "tool_calls", "function_call"]) };
const resultFields = { carried: new Set(["role", "content", "tool_call_id"]) };
const functionFields = { carried: new Set(["role", "content", "name"]) };
const callFields = { carried: new Set(["id", "type", "function"]) };
const bodyFields = { carried: new Set(["name", "arguments"]), at: "function." };

/** Messages in order: a result finds the name of its call, and a legacy `role: function` the call it answers. */
class Conversation {
  readonly #names = new Map<string, string>();
  /** Generated ids for legacy calls, by function name, in order. */
  readonly #unanswered = new Map<string, string[]>();
  #legacy = 0;

  message(message: ChatMessage): Message {
    switch (message.role) {
      case "system":
        return { role: "system", parts: contentParts(message.content), ...nativeOf(chatWire, message, plainFields) };
      case "developer":
        return {
          role: "system",
          parts: contentParts(message.content),
          ...nativeOf(chatWire, message, developerFields),
        };
      case "user":
        return { role: "user", parts: contentParts(message.content), ...nativeOf(chatWire, message, plainFields) };
      case "assistant":
        return this.#assistant(message);
      case "tool": {
        const call = message.tool_call_id;
        const name = this.#names.get(call);
        if (name === undefined) throw invalid(`no tool call before has the id "${call}"`);
        return result(call, name, message.content, nativeOf(chatWire, message, resultFields));
      }
      case "function": {
        const call = this.#unanswered.get(message.name)?.shift();
        if (call === undefined) throw invalid(`no function call before is for "${message.name}"`);
        return result(call, message.name, message.content ?? "", nativeOf(chatWire, message, functionFields));
      }
    }
  }

  #assistant(message: Assistant): Message {
    const calls: Part[] = (message.tool_calls ?? []).map((call) => {
      const part = callPart(call);
      this.#names.set(part.call, part.name);
      return part;
    });
    if (message.function_call) calls.push(this.#functionCall(message.function_call));
    // The wire uses null for "no content next to calls"; an empty string is kept.
    const empty = message.content === "" && calls.length > 0 ? kept({ content: "" }) : {};
    return {
      role: "assistant",
      parts: [...contentParts(message.content ?? ""), ...calls],
      ...joinNative(nativeOf(chatWire, message, assistantFields), empty),
    };
  }

  #functionCall({ name, arguments: text }: { name: string; arguments: string }): Part {
    const call = `call_function_${this.#legacy++}`;
    this.#unanswered.set(name, [...(this.#unanswered.get(name) ?? []), call]);
    return { type: "tool_call", call, name, ...callArguments(text) };
  }
}

function callPart(call: z.output<typeof FunctionCall> | z.output<typeof CustomCall>): ToolCallPart {
  if (call.type === "custom") {
    const { name, input } = call.custom as z.output<typeof CustomCall>["custom"]; // Discriminated by type.
    return { type: "tool_call", call: call.id, name, arguments: { input }, ...kept(call) };
  }
  const body = call.function as z.output<typeof FunctionCall>["function"];
  return {
    type: "tool_call",
    call: call.id,
    name: body.name,
    ...callArguments(body.arguments),
    ...joinNative(nativeOf(chatWire, call, callFields), nativeOf(chatWire, body, bodyFields)),
  };
}

function result(call: string, name: string, content: Content, { native }: { native?: Native }): Message {
  const parts = contentParts(content);
  const list = typeof content === "string" ? {} : kept({ content });
  return {
    role: "tool",
    parts: [
      {
        type: "tool_result",
        call,
        name,
        ok: true,
        ...resultParts(parts),
        ...joinNative(native ? { native } : {}, list),
      },
    ],
  };
}

/** Fields sent verbatim whose meaning the part already represents. */
const kept = (fields: Record<string, unknown>): { native: Native } => ({
  native: { wire: chatWire, fields, translated: Object.keys(fields) },
});
