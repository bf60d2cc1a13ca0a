import { argumentsOf, contentText, isRecord, type JsonRecord, list, record, resultText, text } from "../json.ts";
import { message, type Prompt, type PromptMessage, type PromptTool, schemaInWords } from "../prompt.ts";
import { type Finish, joined, type Piece, type TurnUsage, wholeCalls } from "../turn.ts";
import { type Answer, created, eventStream, type Wire, type WireFrame } from "../wire.ts";

/** OpenAI Chat Completions. */
export const openai: Wire = {
  name: "openai",
  contentType: eventStream,
  route: (path) => (path.endsWith("/chat/completions") ? {} : undefined),
  read,
  frames,
  whole,
  failure: ({ status, message }) => ({
    error: { message, type: kinds[status] ?? "api_error", param: null, code: null },
  }),
  broken: ({ status, message }) =>
    `data: ${JSON.stringify({ error: { message, type: kinds[status] ?? "server_error", param: null, code: kinds[status] ?? null } })}\n\n`,
  unknown: 'event: simulator.unknown\ndata: {"object":"simulator.unknown","choices":[]}\n\n',
  malformed: 'data: {"id":"broken","choices":[{"index":0,"delta":{"content":"\n\n',
};

const kinds: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_exceeded",
  500: "server_error",
  503: "server_error",
  529: "overloaded_error",
};

function read(body: unknown): Prompt {
  const request = record(body);
  const format = record(request.response_format);
  const messages = list(request.messages).map(readMessage);
  return {
    model: text(request.model),
    streaming: request.stream === true,
    messages,
    tools: list(request.tools).map(readTool),
    toolChoice: readChoice(request.tool_choice),
    schema: schemaOf(format, messages),
    reasoning: text(request.reasoning_effort) !== "" || isRecord(request.reasoning),
    usage: record(request.stream_options).include_usage === true,
  };
}

function schemaOf(format: JsonRecord, messages: readonly PromptMessage[]): JsonRecord | undefined {
  const { schema } = record(format.json_schema);
  if (isRecord(schema)) return schema;
  return format.type === "json_object" ? schemaInWords(messages) : undefined;
}

function readMessage(value: unknown): PromptMessage {
  const entry = record(value);
  switch (entry.role) {
    case "tool":
      return message("tool", "", {
        results: [{ id: text(entry.tool_call_id), name: text(entry.name), text: resultText(entry.content) }],
      });
    case "assistant":
      return message("assistant", contentText(entry.content), { calls: list(entry.tool_calls).map(readCall) });
    case "user":
      return message("user", contentText(entry.content));
    default:
      return message("system", contentText(entry.content));
  }
}

export function readCall(value: unknown) {
  const call = record(value);
  const described = record(call.function);
  return { id: text(call.id), name: text(described.name), arguments: argumentsOf(described.arguments) };
}

export function readTool(value: unknown): PromptTool {
  const described = record(record(value).function);
  return {
    name: text(described.name),
    description: text(described.description),
    parameters: record(described.parameters),
  };
}

function readChoice(choice: unknown): Prompt["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  const name = text(record(record(choice).function).name);
  return name === "" ? "auto" : { name };
}

function frames({ prompt, turn, usage, id, shape }: Answer): WireFrame[] {
  const head = `data: {"id":"chatcmpl-${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(prompt.model)},"system_fingerprint":"fp_simulator",`;
  const tail = prompt.usage ? ',"usage":null}\n\n' : "}\n\n";
  const chunk = (delta: string, finish: string): string =>
    `${head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${tail}`;
  const out: WireFrame[] = [{ text: chunk('{"role":"assistant","content":""}', "null"), paced: false }];
  for (const piece of turn.pieces) out.push({ text: chunk(deltaText(piece, shape), "null"), paced: true });
  if (shape.missingEnd) return out;
  out.push({ text: chunk("{}", `"${finishes[turn.finish]}"`), paced: false });
  if (usage !== undefined && (prompt.usage || shape.lateUsage)) {
    out.push({ text: `${head}"choices":[],"usage":${JSON.stringify(usageJson(usage))}}\n\n`, paced: shape.lateUsage });
  }
  out.push({ text: "data: [DONE]\n\n", paced: false });
  return out;
}

function deltaText(piece: Piece, shape: Answer["shape"]): string {
  switch (piece.type) {
    case "text":
      return `{"content":${JSON.stringify(piece.text)}}`;
    case "reasoning":
      return `{"reasoning_content":${JSON.stringify(piece.text)}}`;
    case "refusal":
      return `{"refusal":${JSON.stringify(piece.text)}}`;
    case "call": {
      const id = shape.missingId ? "" : `"id":${JSON.stringify(piece.id)},`;
      const index = shape.duplicateIndex ? 0 : piece.index;
      return `{"tool_calls":[{"index":${index},${id}"type":"function","function":{"name":${JSON.stringify(piece.name)},"arguments":""}}]}`;
    }
    case "arguments": {
      const index = shape.duplicateIndex ? 0 : piece.index;
      return `{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece.text)}}}]}`;
    }
  }
}

const finishes: Readonly<Record<Finish, string>> = {
  stop: "stop",
  tool_calls: "tool_calls",
  length: "length",
  content_filter: "content_filter",
  refusal: "stop",
};

function whole({ prompt, turn, usage, id, shape }: Answer): unknown {
  const calls = wholeCalls(turn.pieces).map((call) => ({
    ...(shape.missingId ? {} : { id: call.id }),
    type: "function",
    function: { name: call.name, arguments: call.text },
  }));
  const said = joined(turn.pieces, "text");
  const reasoning = joined(turn.pieces, "reasoning");
  const refusal = joined(turn.pieces, "refusal");
  return {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created,
    model: prompt.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: said === "" && calls.length > 0 ? null : said,
          refusal: refusal === "" ? null : refusal,
          ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishes[turn.finish],
      },
    ],
    ...(usage === undefined ? {} : { usage: usageJson(usage) }),
    system_fingerprint: "fp_simulator",
  };
}

const usageJson = (usage: TurnUsage) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
});
