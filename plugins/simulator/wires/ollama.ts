import { isRecord, list, record, resultText, text } from "../json.ts";
import { message, type Prompt, type PromptMessage } from "../prompt.ts";
import { argumentsValue, type Finish, joined, type TurnUsage, wholeCalls } from "../turn.ts";
import { type WholePiece, wholePieces } from "../whole-pieces.ts";
import { type Answer, created, type Wire, type WireFrame } from "../wire.ts";
import { readCall, readTool } from "./openai.ts";

/** Ollama /api/chat. */
export const ollama: Wire = {
  name: "ollama",
  contentType: () => "application/x-ndjson",
  route: (path) => (path.endsWith("/api/chat") ? {} : undefined),
  read,
  frames,
  whole,
  failure: ({ message }) => ({ error: message }),
  broken: ({ message }) => `${JSON.stringify({ error: message })}\n`,
  unknown: '{"simulator_unknown":true}\n',
  malformed: '{"model":"broken","message":{"role":"assistant","content":\n',
};

function read(body: unknown): Prompt {
  const request = record(body);
  return {
    model: text(request.model),
    streaming: request.stream !== false,
    messages: list(request.messages).map(readMessage),
    tools: list(request.tools).map(readTool),
    toolChoice: "auto",
    schema: isRecord(request.format) ? request.format : undefined,
    reasoning: request.think === true || typeof request.think === "string",
    usage: true,
  };
}

function readMessage(value: unknown): PromptMessage {
  const entry = record(value);
  switch (entry.role) {
    case "tool": {
      const name = text(entry.tool_name) || text(entry.name);
      return message("tool", "", {
        results: [{ id: text(entry.tool_call_id), name, text: resultText(entry.content) }],
      });
    }
    case "assistant":
      return message("assistant", text(entry.content), { calls: list(entry.tool_calls).map(readCall) });
    case "user":
      return message("user", text(entry.content));
    default:
      return message("system", text(entry.content));
  }
}

const createdAt = new Date(created * 1000).toISOString();

function frames(answer: Answer): WireFrame[] {
  const { prompt, turn, usage, shape } = answer;
  const head = `{"model":${JSON.stringify(prompt.model)},"created_at":"${createdAt}","message":`;
  const out = wholePieces(turn.pieces).map((piece) => ({
    text: `${head}${JSON.stringify({ role: "assistant", ...part(piece, shape) })},"done":false}\n`,
    paced: true,
  }));
  if (shape.missingEnd) return out;
  const end = JSON.stringify(ending(turn.finish, usage)).slice(1);
  return [...out, { text: `${head}{"role":"assistant","content":""},${end}\n`, paced: false }];
}

function part(piece: WholePiece, shape: Answer["shape"]): object {
  if (piece.type === "reasoning") return { content: "", thinking: piece.text };
  if (piece.type === "call") return { content: "", tool_calls: [callJson(piece, shape)] };
  return { content: piece.text };
}

interface Called {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

const callJson = (call: Called, shape: Answer["shape"]) => ({
  ...(shape.missingId ? {} : { id: call.id }),
  function: { index: shape.duplicateIndex ? 0 : call.index, name: call.name, arguments: argumentsValue(call.text) },
});

const ending = (finish: Finish, usage: TurnUsage | undefined) => ({
  done: true,
  done_reason: finish === "length" ? "length" : "stop",
  total_duration: 50_000_000,
  load_duration: 1_000_000,
  ...(usage === undefined
    ? {}
    : {
        prompt_eval_count: usage.inputTokens,
        prompt_eval_duration: 9_000_000,
        eval_count: usage.outputTokens,
        eval_duration: 40_000_000,
      }),
});

function whole({ prompt, turn, usage, shape }: Answer): unknown {
  const thinking = joined(turn.pieces, "reasoning");
  const calls = wholeCalls(turn.pieces).map((call) => callJson(call, shape));
  return {
    model: prompt.model,
    created_at: createdAt,
    message: {
      role: "assistant",
      content: joined(turn.pieces, "text") + joined(turn.pieces, "refusal"),
      ...(thinking === "" ? {} : { thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    ...ending(turn.finish, usage),
  };
}
