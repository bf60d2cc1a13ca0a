import type { ErrorJson } from "../../core/errors/errors.ts";
import {
  type FilePart,
  type ImagePart,
  type Message,
  objectIn,
  type Part,
  type ReasoningPart,
  textUnlessSame,
} from "../../core/model/messages.ts";
import type { EventOf } from "../../core/run/events.ts";
import { flatten } from "../../core/values/flat-text.ts";
import { emptyMap, withEntry, withItem } from "../../core/values/no-entries.ts";

/** One tool call of the current round, derived from events. */
export interface CallState {
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly signature: string | undefined;
  readonly rejected: ErrorJson | undefined;
  /** Text of rejected arguments. */
  readonly raw: string | undefined;
  /** Arguments as the model wrote them, if encoding the parsed value would give a different text. */
  readonly text: string | undefined;
  /** How often it was started. */
  attempts: number;
  approval: "requested" | "approved" | "denied" | undefined;
  approvalAt: number | undefined;
  denial: string | undefined;
  /** Arguments changed by the person who approved. */
  changed: Readonly<Record<string, unknown>> | undefined;
  result: { ok: boolean; output: string; images: readonly ImagePart[]; files: readonly FilePart[] } | undefined;
}

export class RoundState {
  readonly number: number;
  readonly attempt: number;
  parts: Part[] = [];
  calls = emptyMap<string, CallState>();
  /** Position of each call in the order the model began them; sealing order may differ. */
  #places = emptyMap<string, number>();
  #inOrder: CallState[] | undefined;
  /** The generation's successful end, once written. */
  generated: EventOf<"generation.finished"> | undefined;
  /** Some of its output has reached clients. */
  shown = false;
  #reasoning: number | undefined;
  /** The last part's text is flattened when it reaches this length. */
  flatAt = 0;

  readonly #provider: string | undefined;

  constructor(number: number, attempt: number, provider?: string) {
    this.number = number;
    this.attempt = attempt;
    this.#provider = provider;
  }

  add(part: Part): void {
    this.parts = withItem(this.parts, part);
  }

  open(call: string): void {
    this.shown = true;
    if (!this.#places.has(call)) this.#places = withEntry(this.#places, call, this.#places.size);
  }

  hasOpened(call: string): boolean {
    return this.#places.has(call);
  }

  /** The round's text without reasoning. Computed on demand: a second copy would cost a rope node per token. */
  get text(): string {
    let text = "";
    for (const part of this.parts) if (part.type === "text") text += part.text;
    return text;
  }

  addReasoning(event: EventOf<"reasoning.delta">): void {
    this.shown = true;
    const last = this.parts.at(-1);
    const same = last?.type === "reasoning" && (event.part === undefined || event.part === this.#reasoning);
    const part: ReasoningPart = same ? last : { type: "reasoning", text: "" };
    if (!same) {
      this.add(part);
      this.flatAt = 0;
    }
    this.#reasoning = event.part;
    part.text += event.text;
    if (part.text.length > this.flatAt) this.flatAt = flatten(part.text);
    if (event.signature !== undefined) part.signature = (part.signature ?? "") + event.signature;
    if (event.encrypted !== undefined) part.encrypted = event.encrypted;
    if (event.id !== undefined) part.id = event.id;
  }

  addCall(event: EventOf<"tool_call.ready" | "tool_call.rejected">): void {
    const rejected = event.type === "tool_call.rejected" ? event.error : undefined;
    const input = event.type === "tool_call.ready" ? event.arguments : objectIn(event.arguments);
    const call: CallState = {
      call: event.call,
      name: event.name,
      arguments: input ?? {},
      signature: event.signature,
      rejected,
      raw: event.type === "tool_call.rejected" ? event.arguments : undefined,
      text: event.type === "tool_call.ready" ? event.text : undefined,
      attempts: this.calls.get(event.call)?.attempts ?? 0,
      approval: undefined,
      approvalAt: undefined,
      denial: undefined,
      changed: undefined,
      result: rejected && { ok: false, output: `${rejected.code}: ${rejected.err}`, images: [], files: [] },
    };
    const { name, signature, raw, text } = call;
    const part: Part = {
      type: "tool_call",
      call: call.call,
      name,
      arguments: call.arguments,
      ...(input === undefined && raw ? { raw } : {}),
      ...(input !== undefined && raw !== undefined ? textUnlessSame(raw, input) : {}),
      ...(text === undefined ? {} : { text }),
      ...(signature === undefined ? {} : { signature }),
    };
    // Earlier releases sealed a call again when its arguments changed later in the stream; the last one counts.
    const known = this.calls.has(event.call) ? this.parts.findIndex((other) => isCall(other, event.call)) : -1;
    if (known < 0) this.add(part);
    else this.parts[known] = part;
    this.calls = withEntry(this.calls, event.call, call);
    this.#inOrder = undefined;
  }

  get pending(): CallState[] {
    return this.inOrder.filter((call) => call.result === undefined);
  }

  get inOrder(): readonly CallState[] {
    const place = ({ call }: CallState) => this.#places.get(call) ?? this.#places.size;
    this.#inOrder ??= [...this.calls.values()].sort((left, right) => place(left) - place(right));
    return this.#inOrder;
  }

  /** The round's messages for the next generation: calls and results in call order. */
  messages(): Message[] {
    if (this.parts.length === 0) return [];
    const calls = this.inOrder;
    const results = calls.map(({ call, name, result }) => ({
      type: "tool_result" as const,
      call,
      name,
      ok: result?.ok ?? false,
      output: result?.output ?? "not executed",
      ...(result?.images.length ? { images: [...result.images] } : {}),
      ...(result?.files.length ? { files: [...result.files] } : {}),
    }));
    const byCall = new Map(this.parts.map((part) => [part.type === "tool_call" ? part.call : undefined, part]));
    const ordered = calls.map((call) => byCall.get(call.call));
    let next = 0;
    const parts = this.parts.map((part) => (part.type === "tool_call" ? (ordered[next++] ?? part) : part));
    const said: Message = { role: "assistant", parts, ...(this.#provider && { provider: this.#provider }) };
    return results.length === 0 ? [said] : [said, { role: "tool", parts: results }];
  }
}

const isCall = (part: Part, call: string): boolean => part.type === "tool_call" && part.call === call;
