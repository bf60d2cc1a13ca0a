import type { Delta } from "../../core/model/deltas.ts";
import type { Message, Part } from "../../core/model/messages.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import type { TelemetrySettings } from "../base/settings.ts";
import { type RedactLimits, Redactor } from "./redact.ts";

const short: RedactLimits = { text: 512, items: 32, nodes: 10_000 };
const mostCharacters = 16_384;

/**
 * Prompts, outputs, tool arguments and results as span attributes: omitted, or redacted JSON in the conventions' format,
 * optionally truncated. Truncation and redaction apply to values, so the JSON stays valid.
 */
export class Content {
  readonly #mode: TelemetrySettings["content"];
  readonly #redactor: Redactor;

  constructor(settings: Pick<TelemetrySettings, "content" | "redact">) {
    this.#mode = settings.content;
    this.#redactor = new Redactor(settings.redact);
  }

  get captured(): boolean {
    return this.#mode !== "off";
  }

  json(value: unknown): string {
    if (this.#mode === "full") return stringify(this.#redactor.value(value));
    const text = stringify(this.#redactor.value(value, short));
    if (text.length <= mostCharacters) return text;
    return stringify({ truncated: true, start: text.slice(0, mostCharacters / 2) });
  }

  /** The conversation without system messages. */
  input(messages: readonly Message[]): string {
    return this.json(messages.filter(({ role }) => role !== "system").flatMap(spelled));
  }

  /** A run's input. */
  request({ text, messages = [] }: RunInput): string {
    const asked: Message[] = text === undefined ? [] : [{ role: "user", parts: [{ type: "text", text }] }];
    return this.input([...messages, ...asked]);
  }

  /** A run's answer in the conventions' message format. */
  answer(text: string, finish: string): string {
    return this.json([{ role: "assistant", parts: [{ type: "text", content: text }], finish_reason: finish }]);
  }

  /** Plain text, for backends that list it (OpenInference's `input.value` and `output.value`). */
  text(text: string): string {
    return this.#redactor.text(text, this.#mode === "full" ? undefined : short.text);
  }

  system(messages: readonly Message[]): string | undefined {
    const parts = messages.filter(({ role }) => role === "system").flatMap((message) => message.parts.map(spelledPart));
    return parts.length === 0 ? undefined : this.json(parts);
  }
}

/** The last user text of a run's input. */
export function lastAsked({ text, messages = [] }: RunInput): string {
  if (text !== undefined) return text;
  const parts = messages.findLast(({ role }) => role === "user")?.parts ?? [];
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Collects a generation's output, when content is captured. */
export class Output {
  #text = "";
  #reasoning = "";
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();

  push(delta: Delta): void {
    if (delta.type === "text" || delta.type === "refusal") this.#text += delta.text;
    else if (delta.type === "reasoning") this.#reasoning += delta.text;
    else if (delta.type === "tool_call") {
      const call = this.#calls.get(delta.index) ?? { id: "", name: "", arguments: "" };
      if (delta.id !== undefined) call.id = delta.id;
      if (delta.name !== undefined) call.name = delta.name;
      if (delta.replace) call.arguments = "";
      call.arguments += delta.arguments ?? "";
      this.#calls.set(delta.index, call);
    }
  }

  messages(finish: string): unknown {
    const parts: unknown[] = [];
    if (this.#reasoning !== "") parts.push({ type: "reasoning", content: this.#reasoning });
    if (this.#text !== "") parts.push({ type: "text", content: this.#text });
    for (const call of this.#calls.values()) {
      parts.push({ type: "tool_call", id: call.id, name: call.name, arguments: parsed(call.arguments) });
    }
    return [{ role: "assistant", parts, finish_reason: finish }];
  }
}

/** Parsed, so that secrets are recognised by key. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Results of parallel calls become separate messages: backends show one result per message. */
function spelled({ role, parts }: Message): unknown[] {
  if (role !== "tool") return [{ role, parts: parts.map(spelledPart) }];
  return parts.map((part) => ({ role, parts: [spelledPart(part)] }));
}

function spelledPart(part: Part): unknown {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: part.text };
    case "tool_call":
      return { type: "tool_call", id: part.call, name: part.name, arguments: part.arguments };
    case "tool_result":
      return { type: "tool_call_response", id: part.call, response: part.output };
    case "image":
      return { type: "blob", mime_type: part.mediaType, modality: "image" };
    case "file":
      return { type: "blob", mime_type: part.mediaType, modality: part.mediaType.split("/")[0] };
    case "opaque":
      return { type: "opaque", wire: part.wire };
  }
}

const stringify = (value: unknown): string => JSON.stringify(value) ?? "null";
