import { argumentsOf, isRecord, list, record, text } from "../json.ts";
import { message, type Prompt, type PromptMessage, type PromptTool } from "../prompt.ts";
import { argumentsValue, type Failure, type Finish, type TurnUsage } from "../turn.ts";
import { type WholePiece, wholePieces } from "../whole-pieces.ts";
import type { Answer, Route, Wire, WireFrame } from "../wire.ts";

/** Gemini generateContent and streamGenerateContent. */
export const gemini: Wire = {
  name: "gemini",
  contentType: ({ array }) => (array === true ? "application/json" : "text/event-stream"),
  route(path, query) {
    const match = /\/models\/([^/]+):(generateContent|streamGenerateContent)$/.exec(path);
    if (match === null) return undefined;
    const streaming = match[2] === "streamGenerateContent";
    return { model: decodeURIComponent(match[1] ?? ""), streaming, array: streaming && query.get("alt") !== "sse" };
  },
  read,
  frames,
  whole: (answer) => chunk(answer, { pieces: wholePieces(answer.turn.pieces), last: true }),
  failure: errorJson,
  broken: (failure, { array }) =>
    array === true ? `,\r\n${JSON.stringify(errorJson(failure))}]` : event(errorJson(failure)),
  unknown: 'data: {"simulatorUnknown":{}}\r\n\r\n',
  malformed: 'data: {"candidates":[{"content":{"parts":[{"text":\r\n\r\n',
};

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function errorJson({ status, message, headers }: Failure): unknown {
  const wait = headers?.["retry-after-ms"];
  const info = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${Number(wait ?? 0) / 1000}s` };
  const details = wait === undefined ? {} : { details: [info] };
  return { error: { code: status, message, status: statuses[status] ?? "UNKNOWN", ...details } };
}

function read(body: unknown, route: Route): Prompt {
  const request = record(body);
  const generation = record(request.generationConfig);
  const schema = generation.responseJsonSchema ?? generation.responseSchema;
  const system = partsText(record(request.systemInstruction));
  return {
    model: route.model ?? "",
    streaming: route.streaming === true,
    messages: [...(system === "" ? [] : [message("system", system)]), ...list(request.contents).flatMap(readContent)],
    tools: list(request.tools).flatMap((tool) => list(record(tool).functionDeclarations).map(readTool)),
    toolChoice: readChoice(record(record(request.toolConfig).functionCallingConfig)),
    schema: isRecord(schema) ? schema : undefined,
    reasoning: record(generation.thinkingConfig).includeThoughts === true,
    usage: true,
  };
}

const partsText = (content: Readonly<Record<string, unknown>>): string =>
  list(content.parts)
    .map(record)
    .map((part) => (part.thought === true ? "" : text(part.text)))
    .join("");

function readContent(value: unknown): PromptMessage[] {
  const content = record(value);
  const parts = list(content.parts).map(record);
  if (content.role === "model") {
    const calls = parts.filter((part) => isRecord(part.functionCall)).map((part) => record(part.functionCall));
    const read = calls.map((call) => ({ id: text(call.id), name: text(call.name), arguments: argumentsOf(call.args) }));
    return [message("assistant", partsText(content), { calls: read })];
  }
  const results = parts
    .filter((part) => isRecord(part.functionResponse))
    .map((part) => record(part.functionResponse))
    .map((result) => ({ id: text(result.id), name: text(result.name), text: outputText(record(result.response)) }));
  const words = partsText(content);
  const said = words === "" && results.length > 0 ? [] : [message("user", words)];
  return [...(results.length === 0 ? [] : [message("tool", "", { results })]), ...said];
}

/** Gemini requires an object, so clients wrap results as `output`, `result` or `error`. */
function outputText(response: Readonly<Record<string, unknown>>): string {
  const inner = response.output ?? response.result;
  if (inner === undefined) return JSON.stringify(response);
  return typeof inner === "string" ? inner : JSON.stringify(inner);
}

function readTool(value: unknown): PromptTool {
  const tool = record(value);
  const parameters = record(tool.parametersJsonSchema ?? tool.parameters);
  return { name: text(tool.name), description: text(tool.description), parameters };
}

function readChoice(config: Readonly<Record<string, unknown>>): Prompt["toolChoice"] {
  if (config.mode === "NONE") return "none";
  if (config.mode !== "ANY") return "auto";
  const [name] = list(config.allowedFunctionNames);
  return typeof name === "string" ? { name } : "required";
}

const event = (json: unknown): string => `data: ${JSON.stringify(json)}\r\n\r\n`;

function frames(answer: Answer): WireFrame[] {
  const { shape, route, usage } = answer;
  const chunks = wholePieces(answer.turn.pieces).map((piece) => ({
    json: chunk(answer, { pieces: [piece], last: false }),
    paced: true,
  }));
  if (!shape.missingEnd) chunks.push({ json: chunk(answer, { pieces: [], last: true }), paced: false });
  if (shape.lateUsage && usage !== undefined) chunks.push({ json: tail(answer, usageJson(usage)), paced: true });
  if (route.array !== true) return chunks.map(({ json, paced }) => ({ text: event(json), paced }));
  const items = chunks.map(({ json, paced }, position) => ({
    text: `${position === 0 ? "[" : ",\r\n"}${JSON.stringify(json)}`,
    paced,
  }));
  return shape.missingEnd ? items : [...items, { text: "]", paced: false }];
}

function chunk(answer: Answer, { pieces, last }: { pieces: readonly WholePiece[]; last: boolean }): unknown {
  const { turn, usage, shape } = answer;
  const parts = pieces.map((piece) => partOf(piece, shape));
  const content = { parts: last && parts.length === 0 ? [{ text: "" }] : parts, role: "model" };
  const candidate = { content, ...(last ? { finishReason: finishReasons[turn.finish] } : {}), index: 0 };
  const counted = usage === undefined || shape.lateUsage ? undefined : last ? usageJson(usage) : started(usage);
  return { candidates: [candidate], ...tail(answer, counted) };
}

const tail = ({ prompt, id }: Answer, usageMetadata: unknown) => ({
  ...(usageMetadata === undefined ? {} : { usageMetadata }),
  modelVersion: prompt.model,
  responseId: id,
});

function partOf(piece: WholePiece, { missingId }: { readonly missingId: boolean }): unknown {
  if (piece.type === "reasoning") return { text: piece.text, thought: true };
  if (piece.type !== "call") return { text: piece.text };
  const functionCall = { ...(missingId ? {} : { id: piece.id }), name: piece.name, args: argumentsValue(piece.text) };
  return piece.index === 0 ? { functionCall, thoughtSignature: "c2ltdWxhdG9y" } : { functionCall };
}

const finishReasons: Readonly<Record<Finish, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  refusal: "PROHIBITED_CONTENT",
};

const started = (usage: TurnUsage) => ({ promptTokenCount: usage.inputTokens, totalTokenCount: usage.inputTokens });

function usageJson(usage: TurnUsage) {
  const thoughts = usage.reasoningTokens ?? 0;
  return {
    promptTokenCount: usage.inputTokens,
    candidatesTokenCount: usage.outputTokens - thoughts,
    totalTokenCount: usage.inputTokens + usage.outputTokens,
    ...(usage.cacheReadTokens === undefined ? {} : { cachedContentTokenCount: usage.cacheReadTokens }),
    ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
  };
}
