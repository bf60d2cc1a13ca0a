import { objectIn, textUnlessSame } from "venturi/internal";
import type { Message, Part, RunRequest, ToolCallPart, ToolResultPart } from "venturi/plugin";
import { z } from "zod";
import { contentParts, invalid } from "./content.ts";

const AgUiMessage = z.looseObject({
  id: z.string(),
  role: z.enum(["developer", "system", "user", "assistant", "tool", "reasoning", "activity"]),
  content: z.unknown().optional(),
  toolCalls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }))
    .nullish(),
  toolCallId: z.string().optional(),
  error: z.string().nullish(),
});
type AgUiMessage = z.output<typeof AgUiMessage>;

/** Request of an AG-UI client, which sends the whole conversation. */
export const RunAgentInput = z.looseObject({
  threadId: z.string(),
  runId: z.string(),
  messages: z.array(AgUiMessage),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .nullish()
    .describe("tools of the client: shown as tool calls without a result, never run here"),
  context: z.array(z.looseObject({ description: z.string(), value: z.string() })).nullish(),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string(),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.unknown().optional(),
      }),
    )
    .nullish(),
});

/** Fields used here, or only names for the client; others are reported. */
const known = {
  body: new Set(["threadId", "runId", "parentRunId", "protocolVersion", "messages", "tools", "context", "resume"]),
  message: new Set(["id", "role", "content", "toolCalls", "toolCallId", "error", "metadata", "subagentRunId"]),
  tool: new Set(["name", "description", "parameters", "metadata"]),
};

export function toRunRequest(agent: string, body: z.output<typeof RunAgentInput>): RunRequest {
  const unsent = new Set(unknownFields(body, known.body, ""));
  const context = (body.context ?? []).map(({ description, value }) => `${description}: ${value}`);
  const names = new Map<string, string>();
  const messages = body.messages.flatMap((message) => toMessage(message, { names, unsent }));
  const before: Message[] =
    context.length > 0 ? [{ role: "system", parts: [{ type: "text", text: context.join("\n") }] }] : [];
  const tools = body.tools ?? [];
  for (const tool of tools) for (const field of unknownFields(tool, known.tool, "tools.")) unsent.add(field);
  return {
    agent,
    input: { messages: [...before, ...messages] },
    metadata: { thread: body.threadId, agUiRun: body.runId },
    ...(unsent.size === 0 ? {} : { unsent: [...unsent] }),
    ...(tools.length === 0
      ? {}
      : {
          clientTools: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parameters: parameters ?? { type: "object", properties: {} },
          })),
        }),
  };
}

/** Empty values request nothing. */
function unknownFields(object: Record<string, unknown>, carried: ReadonlySet<string>, at: string): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const empty = value == null || (typeof value === "object" && Object.keys(value).length === 0);
    return empty || carried.has(name) ? [] : [at + name];
  });
}

interface Reading {
  /** Tool names by call id. */
  readonly names: Map<string, string>;
  readonly unsent: Set<string>;
}

function toMessage(message: AgUiMessage, reading: Reading): Message[] {
  // Activity shown to the user, never sent to a model.
  if (message.role === "activity") return [];
  if (message.role === "reasoning") {
    reading.unsent.add("messages.reasoning");
    return [];
  }
  for (const field of unknownFields(message, known.message, "messages.")) reading.unsent.add(field);
  const said = contentParts(message.content, reading.unsent);
  switch (message.role) {
    case "developer":
    case "system":
      return [{ role: "system", parts: said }];
    case "user":
      return [{ role: "user", parts: said }];
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call): Part => {
        reading.names.set(call.id, call.function.name);
        return { type: "tool_call", call: call.id, name: call.function.name, ...toArguments(call.function.arguments) };
      });
      return [{ role: "assistant", parts: [...said, ...calls] }];
    }
    case "tool":
      return [{ role: "tool", parts: [toolResult(message, said, reading.names)] }];
  }
}

function toolResult(message: AgUiMessage, said: readonly Part[], names: Reading["names"]): ToolResultPart {
  const call = message.toolCallId ?? "";
  const name = names.get(call);
  if (name === undefined) throw invalid(`no tool call before has the id "${call}"`);
  const text = said.map((part) => (part.type === "text" ? part.text : "")).join("");
  const images = said.flatMap((part) => (part.type === "image" ? [part] : []));
  const files = said.flatMap((part) => (part.type === "file" ? [part] : []));
  const failed = message.error ?? undefined;
  return {
    type: "tool_result",
    call,
    name,
    ok: failed === undefined,
    output: failed ?? text,
    ...(images.length === 0 ? {} : { images }),
    ...(files.length === 0 ? {} : { files }),
  };
}

/** The model's own text is sent back unchanged, malformed or not. */
function toArguments(text: string): Pick<ToolCallPart, "arguments" | "raw" | "text"> {
  const value = objectIn(text || "{}");
  return value === undefined ? { arguments: {}, raw: text } : { arguments: value, ...textUnlessSame(text, value) };
}
