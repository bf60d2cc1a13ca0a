import {
  type Decoder,
  type Delta,
  type FinishReason,
  type Frame,
  list,
  parseJson,
  Quirks,
  record,
  separated,
  type Usage,
  type VenturiError,
  word,
} from "venturi/plugin";
import { broken, errorOf } from "./errors.ts";
import { type ClientCall, clientCallOf } from "./items.ts";
import { type Output, Outputs } from "./outputs.ts";
import { usageOf } from "./usage.ts";

export const wireName = "openai-responses";

type Json = Readonly<Record<string, unknown>>;
type Given = "text" | "refusal" | "summary" | "thought";

/**
 * The Responses API. Pieces are given out as they arrive; what an item's own end says counts more than the sum of its
 * pieces, so whatever is missing is given then, and arguments that differ are replaced.
 */
export class ResponsesDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #outputs = new Outputs();
  /** Calls of the vendor's own kinds, told at the end: until then the vendor may have carried them out itself. */
  readonly #clientCalls: ClientCall[] = [];
  readonly #answered = new Set<string>();
  readonly #callIds = new Set<string>();
  #calls = 0;
  #introduced = false;
  #hasText = false;
  #hasRefusal = false;
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return;
    const data = frame.data;
    if (data.charCodeAt(0) !== 123 && this.#isNothing(data.trim())) return;
    const event = parseJson(data);
    if (event === undefined) return this.#noJson(frame, out);
    const json = record(event);
    this.#event(word(json.type) ?? frame.event, json, out);
  }

  end(out: Delta[]): void {
    if (!this.#ended) this.#fail(out, broken("the stream ended before the response was completed; it was cut"));
  }

  #noJson(frame: Frame, out: Delta[]): void {
    const events = separated(frame);
    if (events.length > 0) this.quirks.count("events_not_separated");
    for (const event of events) this.push(event, out);
    if (events.length === 0) this.#fail(out, broken("the provider sent an event that is not valid JSON"));
  }

  #isNothing(data: string): boolean {
    if (data === "[DONE]") this.quirks.count("done_sentinel");
    else if (data.startsWith(":")) this.quirks.count("comment_as_data");
    else return data === "";
    return true;
  }

  #event(type: string, event: Json, out: Delta[]): void {
    switch (type) {
      case "response.output_text.delta":
        return this.#piece("text", event.content_index, event, out);
      case "response.output_text.done":
        return this.#whole("text", event.content_index, event, event.text, out);
      case "response.refusal.delta":
        return this.#piece("refusal", event.content_index, event, out);
      case "response.refusal.done":
        return this.#whole("refusal", event.content_index, event, event.refusal, out);
      case "response.reasoning_summary_text.delta":
        return this.#piece("summary", event.summary_index, event, out);
      case "response.reasoning_summary_text.done":
        return this.#whole("summary", event.summary_index, event, event.text, out);
      case "response.reasoning_text.delta":
        return this.#piece("thought", event.content_index, event, out);
      case "response.reasoning_text.done":
        return this.#whole("thought", event.content_index, event, event.text, out);
      case "response.function_call_arguments.delta":
        return this.#argumentsPiece(event, out);
      case "response.function_call_arguments.done":
        return this.#argumentsWhole(this.#output(event, "function_call"), event.arguments, out);
      case "response.output_item.added":
        return this.#added(event, record(event.item), out);
      case "response.output_item.done":
        return this.#done(event, record(event.item), out);
      case "response.output_text.annotation.added":
        this.#output(event, "message").annotations++;
        out.push({ type: "activity", kind: "citation", wire: wireName, data: event.annotation });
        return;
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        return this.#introduce(record(event.response), out);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return this.#terminal(record(event.response), out);
      case "error":
        return this.#fail(out, errorOf(event));
      default:
        return this.#other(type, event, out);
    }
  }

  /** Progress of what the vendor runs itself is told by its items; the rest is not known here, or not yet invented. */
  #other(type: string, event: Json, out: Delta[]): void {
    if (type === "" && event.error) return this.#fail(out, errorOf(event));
    if (event.object === "response") return this.#terminal(event, out);
    if (!progress.test(type)) this.quirks.count("unknown_event");
  }

  #introduce(response: Json, out: Delta[]): void {
    if (this.#introduced) return;
    const id = word(response.id);
    const model = word(response.model);
    if (id === undefined && model === undefined) return;
    this.#introduced = true;
    out.push({ type: "response", ...(id !== undefined && { id }), ...(model !== undefined && { model }) });
  }

  #output(event: Json, type: string): Output {
    const itemId = word(event.item_id);
    const known = this.#outputs.find(event.output_index, itemId);
    if (known !== undefined) return known;
    this.quirks.count("item_not_announced");
    return this.#outputs.add(event.output_index, type, itemId);
  }

  #piece(kind: Given, part: unknown, event: Json, out: Delta[]): void {
    if (typeof event.delta !== "string" || event.delta === "") return;
    const output = this.#output(event, kind === "text" || kind === "refusal" ? "message" : "reasoning");
    this.#give(output, kind, part, event.delta, out);
  }

  #whole(kind: Given, part: unknown, event: Json, text: unknown, out: Delta[]): void {
    if (typeof text !== "string") return;
    this.#rest(
      this.#output(event, kind === "text" || kind === "refusal" ? "message" : "reasoning"),
      kind,
      part,
      text,
      out,
    );
  }

  /** Gives what of the whole text was not given piece by piece. */
  #rest(output: Output, kind: Given, part: unknown, text: string, out: Delta[]): void {
    const given = output.given.get(`${kind} ${part ?? 0}`) ?? "";
    if (given.length === text.length || text === "") return;
    if (!text.startsWith(given)) return this.quirks.count("text_differs");
    if (given !== "" || kind === "text") this.quirks.count("deltas_missing");
    this.#give(output, kind, part, text.slice(given.length), out);
  }

  /**
   * Gives what of all the item's parts was not given yet. They are compared as one text: a part's place in the item is not
   * always its `content_index` (Bedrock counts on from the reasoning before).
   */
  #restOfItem(output: Output, kind: Given, parts: readonly unknown[], out: Delta[]): void {
    const texts = parts.map((text) => (typeof text === "string" ? text : ""));
    const given = givenOf(output, kind);
    if (given === "") {
      for (const [index, text] of texts.entries()) this.#rest(output, kind, index, text, out);
      return;
    }
    const whole = texts.join("");
    if (whole.length === given.length || whole === "") return;
    if (!whole.startsWith(given)) return this.quirks.count("text_differs");
    this.quirks.count("deltas_missing");
    this.#give(output, kind, "end", whole.slice(given.length), out);
  }

  #give(output: Output, kind: Given, part: unknown, text: string, out: Delta[]): void {
    const key = `${kind} ${part ?? 0}`;
    const before = output.given.get(key);
    output.given.set(key, before === undefined ? text : before + text);
    if (kind === "text") {
      this.#hasText = true;
      out.push({ type: "text", text });
    } else if (kind === "refusal") {
      this.#hasRefusal = true;
      out.push({ type: "refusal", text });
    } else {
      // Several summaries of one item are paragraphs of one reasoning.
      const gap = before === undefined && output.given.size > 1 ? "\n\n" : "";
      out.push({ type: "reasoning", text: gap + text, part: output.position });
    }
  }

  #added(event: Json, item: Json, out: Delta[]): void {
    const type = word(item.type) ?? "";
    const output = this.#outputs.add(event.output_index, type, word(item.id));
    if (type === "function_call") this.#openCall(output, item, out);
    else if (isServerTool(type)) out.push({ type: "activity", kind: "server_tool", wire: wireName, data: item });
  }

  #openCall(output: Output, item: Json, out: Delta[]): void {
    output.call = this.#calls++;
    const id = word(item.call_id) ?? word(item.id);
    const name = word(item.name);
    if (id !== undefined) this.#callIds.add(id);
    const namespace = word(item.namespace);
    out.push({
      type: "tool_call",
      index: output.call,
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { signature: JSON.stringify({ type: "function_call", namespace }) }),
    });
  }

  #argumentsPiece(event: Json, out: Delta[]): void {
    const output = this.#output(event, "function_call");
    if (typeof event.delta !== "string" || event.delta === "") return;
    if (output.call === undefined) this.#openCall(output, event, out);
    const before = output.given.get("arguments") ?? "";
    output.given.set("arguments", before + event.delta);
    out.push({ type: "tool_call", index: output.call ?? 0, arguments: event.delta });
  }

  /** The arguments' own end counts, whatever the pieces were: some servers send none, some send them enciphered. */
  #argumentsWhole(output: Output, value: unknown, out: Delta[]): void {
    const whole = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
    if (typeof whole !== "string") return;
    if (output.call === undefined) this.#openCall(output, {}, out);
    output.done = true;
    const given = output.given.get("arguments") ?? "";
    const index = output.call ?? 0;
    // Some servers leave the arguments out of the item that ends the call.
    if (whole === given || whole === "") out.push({ type: "tool_call", index, sealed: true });
    else if (given === "") out.push({ type: "tool_call", index, arguments: whole, sealed: true });
    else {
      this.quirks.count("arguments_differ");
      out.push({ type: "tool_call", index, arguments: whole, replace: true, sealed: true });
    }
    if (whole !== "") output.given.set("arguments", whole);
  }

  #done(event: Json, item: Json, out: Delta[]): void {
    const type = word(item.type) ?? "";
    const itemId = word(item.id);
    let output = this.#outputs.find(event.output_index, itemId);
    if (output === undefined || (output.done && output.type !== type)) {
      this.quirks.count("item_not_announced");
      output = this.#outputs.add(event.output_index, type, itemId);
    }
    this.#complete(output, item, out);
  }

  /** The item as it is in the end. */
  #complete(output: Output, item: Json, out: Delta[]): void {
    const type = word(item.type) ?? output.type;
    if (type === "function_call") return this.#completeCall(output, item, out);
    output.done = true;
    if (type === "message") return this.#completeMessage(output, item, out);
    if (type === "reasoning") return this.#completeReasoning(output, item, out);
    const call = clientCallOf(item);
    if (call !== undefined) this.#clientCalls.push(call);
    else this.#completeServerItem(item, out);
  }

  #completeCall(output: Output, item: Json, out: Delta[]): void {
    if (output.call === undefined) this.#openCall(output, item, out);
    if (item.status === "incomplete") return;
    // A call's own end without arguments is a call without arguments, unless pieces have come before.
    this.#argumentsWhole(output, item.arguments ?? output.given.get("arguments") ?? "", out);
    const name = word(item.name);
    const id = word(item.call_id);
    if (name !== undefined)
      out.push({ type: "tool_call", index: output.call ?? 0, name, ...(id !== undefined && { id }) });
  }

  #completeMessage(output: Output, item: Json, out: Delta[]): void {
    const parts = list(item.content).map(record);
    this.#restOfItem(
      output,
      "text",
      parts.map((part) => part.text),
      out,
    );
    this.#restOfItem(
      output,
      "refusal",
      parts.map((part) => part.refusal),
      out,
    );
    if (output.annotations > 0) return;
    for (const part of parts) {
      for (const data of list(part.annotations)) out.push({ type: "activity", kind: "citation", wire: wireName, data });
    }
  }

  #completeReasoning(output: Output, item: Json, out: Delta[]): void {
    this.#restOfItem(
      output,
      "summary",
      list(item.summary).map((part) => record(part).text),
      out,
    );
    this.#restOfItem(
      output,
      "thought",
      list(item.content).map((part) => record(part).text),
      out,
    );
    const id = word(item.id);
    const encrypted = word(item.encrypted_content);
    if (id === undefined && encrypted === undefined) return;
    out.push({
      type: "reasoning",
      text: "",
      part: output.position,
      ...(id !== undefined && { id }),
      ...(encrypted !== undefined && { encrypted }),
    });
  }

  #completeServerItem(item: Json, out: Delta[]): void {
    const answered = word(item.call_id);
    if (answered !== undefined) this.#answered.add(answered);
    out.push({ type: "activity", kind: "server_tool", wire: wireName, data: item, keep: true });
  }

  #terminal(response: Json, out: Delta[]): void {
    this.#introduce(response, out);
    const status = word(response.status) ?? "completed";
    const usage = usageOf(response.usage);
    if (status === "failed" || status === "cancelled") {
      const told = response.error
        ? errorOf(response)
        : errorOf({ code: status, message: `the response was ${status}` });
      return this.#fail(out, told, usage);
    }
    this.#fillIn(response, out);
    const unfinished = this.#outputs.all.some((output) => output.call !== undefined && !output.done);
    const reason = word(record(response.incomplete_details).reason);
    const cut = status === "incomplete" || reason !== undefined;
    if (unfinished && !cut) {
      return this.#fail(out, broken("the response was completed with a call that is not; it was cut"), usage);
    }
    this.#ended = true;
    for (const call of this.#clientCalls) this.#tellClientCall(call, out);
    if (usage !== undefined) out.push({ type: "usage", usage });
    out.push({ type: "done", finish: this.#finish(cut, reason), raw: reason ?? status });
  }

  /** What was never streamed stands in the final response, unless that is left empty, as some back ends do. */
  #fillIn(response: Json, out: Delta[]): void {
    const items = list(response.output).map(record);
    const streamed = this.#outputs.all.length;
    for (const [index, item] of items.entries()) {
      const type = word(item.type) ?? "";
      const output = this.#outputs.all[index];
      if (output !== undefined && index < streamed && output.type === type) {
        if (output.done) continue;
        this.quirks.count("item_not_finished");
        this.#complete(output, item, out);
      } else if (streamed === 0 || this.#isMissing(type, item)) {
        if (streamed > 0) this.quirks.count("item_not_streamed");
        this.#complete(this.#outputs.add(`final ${index}`, type, word(item.id)), item, out);
      }
    }
  }

  #isMissing(type: string, item: Json): boolean {
    if (type === "message") return !this.#hasText && !this.#hasRefusal;
    return type === "function_call" && !this.#callIds.has(word(item.call_id) ?? "");
  }

  #tellClientCall(call: ClientCall, out: Delta[]): void {
    if (call.call !== undefined && this.#answered.has(call.call)) return;
    out.push({
      type: "tool_call",
      index: this.#calls++,
      ...(call.call !== undefined && { id: call.call }),
      name: call.name,
      arguments: call.arguments,
      signature: call.signature,
      kind: call.kind,
      sealed: true,
    });
  }

  #finish(cut: boolean, reason: string | undefined): FinishReason {
    if (cut)
      return reason === "max_output_tokens" ? "length" : reason === "content_filter" ? "content_filter" : "other";
    if (this.#calls > 0) return "tool_calls";
    return this.#hasRefusal && !this.#hasText ? "refusal" : "stop";
  }

  #fail(out: Delta[], error: VenturiError, usage?: Usage): void {
    this.#ended = true;
    if (usage !== undefined) out.push({ type: "usage", usage: { ...usage, source: "partial" } });
    out.push({ type: "error", error });
  }
}

function givenOf(output: Output, kind: Given): string {
  let text = "";
  for (const [key, given] of output.given) if (key.startsWith(kind)) text += given;
  return text;
}

const isServerTool = (type: string): boolean =>
  type !== "message" && type !== "reasoning" && type !== "function_call" && clientCallOf({ type }) === undefined;

/** Events whose outcome the item's end tells again. */
const progress =
  /^(keepalive|ping)$|^response\.(content_part|reasoning_part|reasoning_summary_part|custom_tool_call_input|mcp_call|mcp_call_arguments|mcp_list_tools|web_search_call|file_search_call|code_interpreter_call|code_interpreter_call_code|image_generation_call|shell_call_command|shell_call_output_content|apply_patch_call_operation_diff|compaction|audio)\./;
