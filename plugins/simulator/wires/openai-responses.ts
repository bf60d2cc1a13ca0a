import { type Block, blockSteps, type Step } from "../blocks.ts";
import { argumentsOf, contentText, isRecord, list, record, resultText, text } from "../json.ts";
import { message, type Prompt, type PromptMessage, type PromptTool, schemaInWords } from "../prompt.ts";
import { type Answer, eventStream, type Wire, type WireFrame } from "../wire.ts";
import { itemId, itemOf, partOf, responseJson } from "./openai-response.ts";

export const openaiResponses: Wire = {
  name: "openai-responses",
  contentType: eventStream,
  route: (path) => (path.endsWith("/responses") ? {} : undefined),
  read,
  frames,
  whole: (answer) => responseJson(answer, "done"),
  failure: ({ status, message }) => ({
    error: {
      message,
      type: status === 429 ? "rate_limit_error" : "api_error",
      param: null,
      code: codes[status] ?? null,
    },
  }),
  broken: ({ status, message }) => {
    const error = {
      type: codes[status] ?? "server_error",
      code: codes[status] ?? "server_error",
      message,
      param: null,
    };
    return event({ type: "error", sequence_number: 9_999, error });
  },
  unknown: event({ type: "simulator.unknown", sequence_number: 9_998 }),
  malformed: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":\n\n',
};

const codes: Readonly<Record<number, string>> = {
  400: "invalid_prompt",
  401: "invalid_api_key",
  429: "rate_limit_exceeded",
  500: "server_error",
  503: "server_error",
};

function read(body: unknown): Prompt {
  const request = record(body);
  const { schema, type } = record(record(request.text).format);
  const system = text(request.instructions);
  const input =
    typeof request.input === "string" ? [message("user", request.input)] : list(request.input).flatMap(readItem);
  const messages = [...(system === "" ? [] : [message("system", system)]), ...input];
  return {
    model: text(request.model),
    streaming: request.stream === true,
    messages,
    tools: list(request.tools).map(readTool),
    toolChoice: readChoice(request.tool_choice),
    schema: isRecord(schema) ? schema : type === "json_object" ? schemaInWords(messages) : undefined,
    reasoning: isRecord(request.reasoning),
    usage: true,
  };
}

function readItem(value: unknown): PromptMessage[] {
  const item = record(value);
  switch (item.type) {
    case "function_call": {
      const call = { id: text(item.call_id), name: text(item.name), arguments: argumentsOf(item.arguments) };
      return [message("assistant", "", { calls: [call] })];
    }
    case "function_call_output":
      return [message("tool", "", { results: [{ id: text(item.call_id), name: "", text: resultText(item.output) }] })];
    case undefined:
    case "message": {
      const role = item.role === "assistant" || item.role === "user" ? item.role : "system";
      return [message(role, contentText(item.content))];
    }
    default:
      return [];
  }
}

function readTool(value: unknown): PromptTool {
  const tool = record(value);
  return { name: text(tool.name), description: text(tool.description), parameters: record(tool.parameters) };
}

function readChoice(choice: unknown): Prompt["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  const name = text(record(choice).name);
  return name === "" ? "auto" : { name };
}

function event(data: Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function frames(answer: Answer): WireFrame[] {
  const { turn, shape } = answer;
  const steps = blockSteps(turn.pieces);
  const out = new Events();
  const response = responseJson(answer, "started");
  out.push({ type: "response.created", response });
  out.push({ type: "response.in_progress", response });
  const firstCall = steps.find((step) => step.block.kind === "call")?.block.position ?? 0;
  for (const step of steps) {
    const output_index = shape.duplicateIndex && step.block.kind === "call" ? firstCall : step.block.position;
    pushStep(out, step, { output_index, answer });
  }
  if (shape.missingEnd) return out.frames;
  const whole = responseJson(answer, "done");
  out.push({ type: whole.status === "incomplete" ? "response.incomplete" : "response.completed", response: whole });
  return out.frames;
}

/** Numbers the events. */
class Events {
  readonly frames: WireFrame[] = [];

  push(data: Readonly<Record<string, unknown>> & { readonly type: string }, paced?: "paced"): void {
    const { type, ...fields } = data;
    this.frames.push({
      text: event({ type, sequence_number: this.frames.length, ...fields }),
      paced: paced === "paced",
    });
  }
}

interface Place {
  readonly output_index: number;
  readonly answer: Answer;
}

function pushStep(out: Events, step: Step, { output_index, answer }: Place): void {
  const { block } = step;
  const item_id = itemId(block, answer);
  const names = eventNames[block.kind];
  const at = { item_id, output_index, ...(names.part === undefined ? {} : { [names.part.index]: 0 }) };
  switch (step.type) {
    case "open":
      out.push({ type: "response.output_item.added", output_index, item: itemOf(block, answer, "started") }, "paced");
      if (names.part !== undefined) out.push({ type: `${names.part.name}.added`, ...at, part: partOf(block, "") });
      return;
    case "delta":
      out.push({ type: `${names.text}.delta`, ...at, delta: step.text, ...logprobs(block) }, "paced");
      return;
    case "close":
      out.push({
        type: `${names.text}.done`,
        ...at,
        [names.field]: block.text,
        ...callName(block),
        ...logprobs(block),
      });
      if (names.part !== undefined)
        out.push({ type: `${names.part.name}.done`, ...at, part: partOf(block, block.text) });
      out.push({ type: "response.output_item.done", output_index, item: itemOf(block, answer, "done") });
  }
}

const logprobs = (block: Block) => (block.kind === "text" ? { logprobs: [] } : {});
const callName = (block: Block) => (block.kind === "call" ? { name: block.name } : {});

interface Names {
  readonly text: string;
  /** Field of the complete text in the closing event. */
  readonly field: string;
  readonly part?: { readonly name: string; readonly index: string };
}

const content = { name: "response.content_part", index: "content_index" };

const eventNames: Readonly<Record<Block["kind"], Names>> = {
  text: { text: "response.output_text", field: "text", part: content },
  refusal: { text: "response.refusal", field: "refusal", part: content },
  reasoning: {
    text: "response.reasoning_summary_text",
    field: "text",
    part: { name: "response.reasoning_summary_part", index: "summary_index" },
  },
  call: { text: "response.function_call_arguments", field: "arguments" },
};
