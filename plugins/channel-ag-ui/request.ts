import { type Message, type Part, type RunRequest, VenturiError } from "venturi/plugin";
import { z } from "zod";

const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ type: z.string(), value: z.string().optional(), mimeType: z.string().optional() }).optional(),
});
const Content = z.union([z.string(), z.array(ContentPart)]);

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
        payload: z.union([z.boolean(), z.looseObject({ approved: z.boolean().optional() })]).optional(),
      }),
    )
    .nullish(),
});

export function toRunRequest(agent: string, body: z.output<typeof RunAgentInput>): RunRequest {
  const context = (body.context ?? []).map(({ description, value }) => `${description}: ${value}`);
  const names = new Map<string, string>();
  const messages = body.messages.flatMap((message) => toMessage(message, names));
  const known: Message[] =
    context.length > 0 ? [{ role: "system", parts: [{ type: "text", text: context.join("\n") }] }] : [];
  return {
    agent,
    input: { messages: [...known, ...messages] },
    metadata: { thread: body.threadId, agUiRun: body.runId },
    ...(body.tools?.length
      ? {
          clientTools: body.tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parameters: parameters ?? { type: "object", properties: {} },
          })),
        }
      : {}),
  };
}

function toMessage(message: AgUiMessage, names: Map<string, string>): Message[] {
  switch (message.role) {
    case "developer":
    case "system":
      return [{ role: "system", parts: parts(message.content) }];
    case "user":
      return [{ role: "user", parts: parts(message.content) }];
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call): Part => {
        names.set(call.id, call.function.name);
        return {
          type: "tool_call",
          call: call.id,
          name: call.function.name,
          arguments: object(call.function.arguments),
        };
      });
      return [{ role: "assistant", parts: [...parts(message.content ?? ""), ...calls] }];
    }
    case "tool": {
      const call = message.toolCallId ?? "";
      const name = names.get(call);
      if (name === undefined) throw invalid(`no tool call before has the id "${call}"`);
      const output = parts(message.content)
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("");
      const failed = message.error ?? undefined;
      return [
        {
          role: "tool",
          parts: [{ type: "tool_result", call, name, ok: failed === undefined, output: failed ?? output }],
        },
      ];
    }
    default:
      return [];
  }
}

function parts(value: unknown): Part[] {
  const content = Content.safeParse(value);
  if (!content.success) throw invalid("a message's content is text or parts");
  if (typeof content.data === "string") return content.data === "" ? [] : [{ type: "text", text: content.data }];
  return content.data.flatMap(({ type, text, source }): Part[] => {
    if (type === "text" && text !== undefined) return [{ type: "text", text }];
    const fallback = mediaTypes[type];
    if (fallback === undefined || source?.value === undefined) throw invalid(`no content of type "${type}" is taken`);
    const mediaType = source.mimeType ?? fallback;
    const kind = type === "image" ? ("image" as const) : ("file" as const);
    if (source.type === "data") return [{ type: kind, mediaType, data: source.value }];
    if (/^https?:\/\//.test(source.value)) return [{ type: kind, mediaType, url: source.value }];
    throw invalid(`the source of a message's ${type} is data or an https: URL`);
  });
}

/** AG-UI's non-text content types and their default media types. */
const mediaTypes: Readonly<Record<string, string>> = {
  image: "image/*",
  audio: "audio/wav",
  video: "video/mp4",
  document: "application/pdf",
};

function object(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>; // checked here
  } catch {
    // Reported below, like any other text that is not an object.
  }
  throw invalid("the arguments of a tool call are not a JSON object");
}

const invalid = (message: string) => new VenturiError("request.parse", "invalid_input", message);
