import { type Message, type Part, type ToolCallPart, type ToolResultPart, VenturiError } from "venturi/plugin";
import { parseDataUrl } from "venturi/plugin/channel";
import { z } from "zod";

const UiPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  mediaType: z.string().optional(),
  url: z.string().optional(),
  filename: z.string().optional(),
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  state: z.string().optional(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  data: z.unknown().optional(),
  approval: z
    .looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() })
    .optional(),
});
type UiPart = z.output<typeof UiPart>;

const UiMessage = z.looseObject({
  id: z.string().optional(),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(UiPart),
});
export type UiMessage = z.output<typeof UiMessage>;

/** Request of DefaultChatTransport, which sends the whole conversation. */
export const ChatBody = z.looseObject({
  id: z.string().min(1).max(256),
  messages: z.array(UiMessage).min(1),
  trigger: z.string().optional(),
});

const known: ReadonlySet<string> = new Set(["id", "messages", "trigger", "messageId"]);

/** Fields that reach no model: extra body fields, and reasoning, whose signatures the page does not have. */
export function unsentOf(body: z.output<typeof ChatBody>): string[] {
  const fields = Object.entries(body).flatMap(([name, value]) => (known.has(name) || value == null ? [] : [name]));
  const reasoned = body.messages.some(({ parts }) => parts.some(({ type }) => type === "reasoning"));
  return reasoned ? [...fields, "messages.reasoning"] : fields;
}

/** An assistant message holds calls and results; ours are separate, in step order. */
export function toMessages(messages: readonly UiMessage[]): Message[] {
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [{ role: message.role, parts: message.parts.flatMap(simplePart) }];
    return steps(message.parts).flatMap((step): Message[] => {
      const tools = step.flatMap(toolParts);
      const said = [...step.flatMap(simplePart), ...tools.map(([call]) => call)];
      const results = tools.map(([, result]) => result);
      return [
        ...(said.length > 0 ? [{ role: "assistant" as const, parts: said }] : []),
        ...(results.length > 0 ? [{ role: "tool" as const, parts: results }] : []),
      ];
    });
  });
}

function steps(parts: readonly UiPart[]): UiPart[][] {
  const found: UiPart[][] = [[]];
  for (const part of parts) {
    if (part.type === "step-start") found.push([]);
    else found.at(-1)?.push(part);
  }
  return found;
}

function simplePart(part: UiPart): Part[] {
  if (part.type === "text" && part.text) return [{ type: "text", text: part.text }];
  if (part.type !== "file" || part.url === undefined) return [];
  const inline = parseDataUrl(part.url);
  const mediaType = part.mediaType ?? (inline?.mediaType || "application/octet-stream");
  const kind = mediaType.startsWith("image/") ? ("image" as const) : ("file" as const);
  const name = kind === "file" && part.filename !== undefined ? { name: part.filename } : {};
  if (inline !== undefined) {
    const data = inline.isBase64 ? inline.data : Buffer.from(decoded(inline.data)).toString("base64");
    return [{ type: kind, mediaType, data, ...name }];
  }
  if (/^https?:\/\//.test(part.url)) return [{ type: kind, mediaType, url: part.url, ...name }];
  throw new VenturiError("request.parse", "invalid_input", "a file part's url is a data: or https: URL");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const message = "a file part's data: URL is not percent-encoded as it should be";
    throw new VenturiError("request.parse", "invalid_input", message, { cause });
  }
}

const toolNameOf = (type: string): string | undefined =>
  type.length > 5 && type.startsWith("tool-") ? type.slice(5) : undefined;

/** Calls without a result are left out: vendors reject them. */
function toolParts(part: UiPart): [ToolCallPart, ToolResultPart][] {
  const name = part.type === "dynamic-tool" ? part.toolName : toolNameOf(part.type);
  const { toolCallId: call, state } = part;
  if (name === undefined || call === undefined) return [];
  if (state !== "output-available" && state !== "output-error") return [];
  const output = typeof part.output === "string" ? part.output : JSON.stringify(part.output ?? null);
  // JSON from the client.
  const input = typeof part.input === "object" && part.input !== null ? (part.input as Record<string, unknown>) : {};
  return [
    [
      { type: "tool_call", call, name, arguments: input },
      {
        type: "tool_result",
        call,
        name,
        ok: state === "output-available",
        output: state === "output-available" ? output : (part.errorText ?? "failed"),
      },
    ],
  ];
}
