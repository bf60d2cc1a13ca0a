import { createHash } from "node:crypto";
import { isRecord, list, record, text } from "./json.ts";
import { tokens } from "./prompt.ts";

const usual = 32;

/** Answers model requests other than generations: embeddings and token counts. */
export function answerTo(path: string, body: unknown): unknown | undefined {
  const request = record(body);
  if (path.endsWith("/v1/embeddings")) return openaiEmbeddings(request);
  if (path.endsWith(":batchEmbedContents")) return geminiEmbeddings(request);
  if (path.endsWith("/api/embed")) return ollamaEmbeddings(request);
  if (path.endsWith("/v1/responses/input_tokens"))
    return { object: "response.input_tokens", input_tokens: count(request) };
  return path.endsWith("/v1/messages/count_tokens") ? { input_tokens: count(request) } : undefined;
}

const count = ({ model: _, ...asked }: Readonly<Record<string, unknown>>): number =>
  tokens(JSON.stringify(asked).length);

function openaiEmbeddings({ model, input, dimensions }: Readonly<Record<string, unknown>>): unknown {
  const inputs = inputsOf(input);
  const size = typeof dimensions === "number" ? dimensions : usual;
  const used = inputs.reduce((sum, each) => sum + tokens(each.length), 0);
  return {
    object: "list",
    model,
    data: inputs.map((each, index) => ({ object: "embedding", index, embedding: vector(each, size) })),
    usage: { prompt_tokens: used, total_tokens: used },
  };
}

function geminiEmbeddings({ requests }: Readonly<Record<string, unknown>>): unknown {
  const embeddings = list(requests).map((each) => {
    const parts = list(record(record(each).content).parts);
    const said = parts.map((part) => text(record(part).text)).join("");
    return { values: vector(said, Number(record(each).outputDimensionality ?? usual)) };
  });
  return { embeddings };
}

function ollamaEmbeddings({ model, input, dimensions }: Readonly<Record<string, unknown>>): unknown {
  const inputs = inputsOf(input);
  const size = typeof dimensions === "number" ? dimensions : usual;
  const used = inputs.reduce((sum, each) => sum + tokens(each.length), 0);
  return { model, embeddings: inputs.map((each) => vector(each, size)), prompt_eval_count: used };
}

/** A text, a list of texts, or lists of tokens. */
function inputsOf(input: unknown): string[] {
  if (!Array.isArray(input) || typeof input[0] === "number") return [textOf(input)];
  return input.map(textOf);
}

const textOf = (input: unknown): string =>
  typeof input === "string" || isRecord(input) ? String(input) : JSON.stringify(input);

/** A unit vector, deterministic per text, unrelated between texts. */
function vector(said: string, size: number): number[] {
  const values: number[] = [];
  for (let block = 0; values.length < size; block++) {
    for (const byte of createHash("sha256").update(`${block} ${said}`).digest()) values.push(byte / 127.5 - 1);
  }
  const cut = values.slice(0, size);
  const length = Math.hypot(...cut);
  return cut.map((value) => value / length);
}
