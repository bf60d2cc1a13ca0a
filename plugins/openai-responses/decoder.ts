import { answerOf, RepeatedJson, separated, varying } from "venturi/internal";
import type { Decoder, Delta, FinishReason, Frame, JsonPlace, Usage, VenturiError } from "venturi/plugin";
import { asList, asRecord, asText, Quirks } from "venturi/plugin/provider";
import { Calls, type Item } from "./calls.ts";
import { broken, errorOf } from "./errors.ts";
import { isClientCall } from "./items.ts";
import { beginMessage, endMessage, endReasoning, fieldsOfResponse } from "./other-fields.ts";
import { type Output, Outputs } from "./outputs.ts";
import { Texts, textOf } from "./texts.ts";
import { usageOf } from "./usage.ts";

export const wireName = "openai-responses";

type Json = Readonly<Record<string, unknown>>;

/** Values that vary between events of one kind. */
const changing = varying([["delta"]], [["sequence_number"], ["obfuscation"]]);

/**
 * Decodes the Responses API. Deltas are emitted as they arrive; an item's final content overrides them, so missing text is
 * emitted then, and arguments that differ are replaced.
 */
export class ResponsesDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #json = new RepeatedJson(changing);
  readonly #outputs = new Outputs();
  readonly #texts = new Texts(this.quirks);
  readonly #calls = new Calls(this.quirks);
  /** The current event as received. */
  #source = "";
  #introduced = false;
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return;
    const data = frame.data;
    if (data.charCodeAt(0) !== 123 && this.#isNothing(data.trim())) return;
    const event = this.#json.parse(data);
    if (event === undefined) return this.#noJson(frame, out);
    const json = asRecord(event);
    this.#source = data;
    this.#event(asText(json.type) ?? frame.event, json, out);
  }

  end(out: Delta[]): void {
    if (!this.#ended) this.#fail(out, broken("the stream ended before the response was completed; it was truncated"));
  }

  #noJson(frame: Frame, out: Delta[]): void {
    const events = separated(frame);
    if (events.length > 0) this.quirks.count("events_not_separated");
    for (const event of events) this.push(event, out);
    if (events.length === 0)
      this.#fail(out, broken("the provider sent an event that is not valid JSON", { malformed: true }));
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
      case "response.refusal.delta":
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#texts.piece(this.#output(event, itemOf(type)), textOf(type, event, event.delta), out);
      case "response.output_text.done":
      case "response.refusal.done":
      case "response.reasoning_summary_text.done":
      case "response.reasoning_text.done": {
        const text = event.text ?? event.refusal;
        return this.#texts.complete(this.#output(event, itemOf(type)), textOf(type, event, text), out);
      }
      case "response.function_call_arguments.delta":
        return this.#calls.piece(this.#output(event, "function_call"), event.delta, out);
      case "response.function_call_arguments.done":
        return this.#calls.whole(
          this.#output(event, "function_call"),
          { value: event.arguments, source: { text: this.#source, place: ["arguments"] } },
          out,
        );
      case "response.output_item.added":
        return this.#added(event, asRecord(event.item), out);
      case "response.output_item.done":
        return this.#done(event, asRecord(event.item), out);
      case "response.output_text.annotation.added":
        this.#output(event, "message").annotations++;
        out.push({ type: "activity", kind: "citation", wire: wireName, data: event.annotation });
        return;
      case "response.created":
        // A gateway that lost its upstream and retried has put two responses into one body.
        if (this.#outputs.all.length > 0)
          return this.#fail(out, broken("a second response began before the first had ended; try again"));
        return this.#introduce(asRecord(event.response), out);
      case "response.queued":
      case "response.in_progress":
        return this.#introduce(asRecord(event.response), out);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return this.#terminal({ response: asRecord(event.response), place: ["response"], end: type.slice(9) }, out);
      case "error":
        return this.#fail(out, errorOf(event));
      default:
        return this.#other(type, event, out);
    }
  }

  /** Vendor tool progress is covered by its items; other events are unknown. */
  #other(type: string, event: Json, out: Delta[]): void {
    if (type === "" && event.error) return this.#fail(out, errorOf(event));
    if (event.object === "response") return this.#terminal({ response: event, place: [], end: "" }, out);
    if (!progress.test(type)) this.quirks.count("unknown_event");
  }

  #introduce(response: Json, out: Delta[]): void {
    if (this.#introduced) return;
    const id = asText(response.id);
    const model = asText(response.model);
    if (id === undefined && model === undefined) return;
    this.#introduced = true;
    out.push({ type: "response", ...(id !== undefined && { id }), ...(model !== undefined && { model }) });
  }

  #output(event: Json, type: string): Output {
    const itemId = asText(event.item_id);
    const known = this.#outputs.find(event.output_index, itemId);
    if (known !== undefined) return known;
    this.quirks.count("item_not_announced");
    return this.#outputs.add(event.output_index, type, itemId);
  }

  #added(event: Json, item: Json, out: Delta[]): void {
    const type = asText(item.type) ?? "";
    if (type === "function_call" && this.#outputs.has(event.output_index, item)) {
      return this.quirks.count("item_repeated");
    }
    const output = this.#outputs.add(event.output_index, type, asText(item.id));
    if (type === "function_call") this.#calls.open(output, item, out);
    else if (type === "message") this.#begin(output, item, out);
    else if (type !== "message" && type !== "reasoning" && !isClientCall(item)) {
      out.push({ type: "activity", kind: "server_tool", wire: wireName, data: item });
    }
  }

  #begin(output: Output, item: Json, out: Delta[]): void {
    const follows = this.#outputs.all[output.position - 1]?.type === "message";
    beginMessage(wireName, { output, item, follows }, out);
  }

  #done(event: Json, item: Json, out: Delta[]): void {
    const type = asText(item.type) ?? "";
    const itemId = asText(item.id);
    let output = this.#outputs.find(event.output_index, itemId);
    if (type === "function_call")
      output = this.#outputs.ofCall(item, output, output === undefined || output.ended ? [] : [output]);
    if (output === undefined || (output.done && output.type !== type)) {
      this.quirks.count("item_not_announced");
      output = this.#outputs.add(event.output_index, type, itemId);
    }
    this.#complete(output, { item, source: { text: this.#source, place: ["item"] } }, out);
  }

  /** The final item. */
  #complete(output: Output, whole: Item, out: Delta[]): void {
    const { item } = whole;
    const type = asText(item.type) ?? output.type;
    if (type === "function_call") return this.#calls.complete(output, whole, out);
    const again = output.done && output.itemId !== undefined && output.itemId === item.id;
    output.done = true;
    if (type === "message") return this.#completeMessage(output, item, out);
    if (type === "reasoning") return this.#completeReasoning(output, item, out);
    if (this.#calls.takeClientCall(item)) return;
    if (again) return this.quirks.count("item_repeated");
    this.#calls.answered(asText(item.call_id));
    out.push({ type: "activity", kind: "server_tool", wire: wireName, data: item, keep: true });
  }

  #completeMessage(output: Output, item: Json, out: Delta[]): void {
    this.#begin(output, item, out);
    const parts = asList(item.content).map(asRecord);
    // Each part with its own sources.
    if (output.given.size === 0) {
      for (const [index, part] of parts.entries()) {
        this.#texts.completePart(output, part, index, out);
        if (output.annotations === 0) this.#cite(part, out);
      }
    } else {
      this.#texts.completeMessage(output, item, out);
      if (output.annotations === 0) for (const part of parts) this.#cite(part, out);
    }
    endMessage(wireName, output, item, out);
  }

  #cite({ annotations }: Json, out: Delta[]): void {
    for (const data of asList(annotations)) out.push({ type: "activity", kind: "citation", wire: wireName, data });
  }

  #completeReasoning(output: Output, item: Json, out: Delta[]): void {
    this.#texts.completeReasoning(output, item, out);
    const id = asText(item.id);
    const encrypted = asText(item.encrypted_content);
    endReasoning(wireName, output, item, out);
    if (id === undefined && encrypted === undefined) return;
    const proofs = { ...(id !== undefined && { id }), ...(encrypted !== undefined && { encrypted }) };
    out.push({ type: "reasoning", text: "", part: output.position, ...proofs });
  }

  #terminal({ response, place, end }: End, out: Delta[]): void {
    this.#introduce(response, out);
    const told = asText(response.status);
    // An event that names a bad end is believed, whatever the status says or omits.
    const status = end === "" || (end === "completed" && told !== undefined) ? (told ?? "completed") : end;
    if (end === "" && pending.has(status))
      return this.#fail(out, broken(`the provider sent a response that is ${status}; what arrived is incomplete`));
    const usage = usageOf(response.usage);
    if (status === "failed" || status === "cancelled") {
      const failure = response.error ? response : { code: status, message: `the response was ${status}` };
      return this.#fail(out, errorOf(failure), usage);
    }
    this.#fillIn(response, place, out);
    const reason = asText(asRecord(response.incomplete_details).reason);
    const cut = status === "incomplete" || reason !== undefined ? cutFinish(reason) : undefined;
    // With these two finish reasons the accumulator already treats open calls as truncated.
    const unfinished = this.#outputs.all.some((output) => output.call !== undefined && !output.done);
    if (unfinished && cut !== "length" && cut !== "content_filter") {
      return this.#fail(out, broken(`the response was ${status} with a call that is not finished`), usage);
    }
    this.#ended = true;
    this.#calls.tellClientCalls(out);
    const fields = fieldsOfResponse(response);
    if (fields !== undefined) out.push({ type: "response", ...answerOf(wireName, { ...fields }) });
    if (usage !== undefined) out.push({ type: "usage", usage, ...answerOf(wireName, { ...asRecord(response.usage) }) });
    out.push({ type: "done", finish: cut ?? this.#goodFinish(), raw: reason ?? status });
  }

  /** The final response has whatever was never streamed, unless it is empty, as with some backends. */
  #fillIn(response: Json, place: JsonPlace, out: Delta[]): void {
    const streamed = this.#outputs.all.length;
    const others = new Set(this.#outputs.all);
    const text = this.#source;
    for (const [index, item] of asList(response.output).map(asRecord).entries()) {
      const type = asText(item.type) ?? "";
      const whole = { item, source: { text, place: [...place, "output", index] } };
      const there = this.#outputs.all[index];
      const output = type === "function_call" ? this.#outputs.ofCall(item, there, others) : there;
      if (output !== undefined && output.position < streamed && output.type === type) {
        others.delete(output);
        if (output.done) continue;
        this.quirks.count("item_not_finished");
        this.#complete(output, whole, out);
      } else if (streamed === 0 || this.#isMissing(type, item)) {
        if (streamed > 0) this.quirks.count("item_not_streamed");
        this.#complete(this.#outputs.add(`final ${index}`, type, asText(item.id)), whole, out);
      }
    }
  }

  #isMissing(type: string, item: Json): boolean {
    if (type === "message") return !this.#texts.hasText && !this.#texts.hasRefusal;
    return type === "function_call" && !this.#calls.knows(asText(item.call_id));
  }

  #goodFinish(): FinishReason {
    if (this.#calls.count > 0) return "tool_calls";
    return this.#texts.hasRefusal && !this.#texts.hasText ? "refusal" : "stop";
  }

  #fail(out: Delta[], error: VenturiError, usage?: Usage): void {
    this.#ended = true;
    if (usage !== undefined) out.push({ type: "usage", usage: { ...usage, source: "partial" } });
    out.push({ type: "error", error });
  }
}

interface End {
  readonly response: Json;
  /** Where it stands in its event. */
  readonly place: JsonPlace;
  /** What the event says of it; empty for a response without an event. */
  readonly end: string;
}

const pending: ReadonlySet<string> = new Set(["queued", "in_progress"]);

const itemOf = (type: string): string => (type.startsWith("response.reasoning") ? "reasoning" : "message");

const cutFinish = (reason: string | undefined): FinishReason =>
  reason === "max_output_tokens" ? "length" : reason === "content_filter" ? "content_filter" : "other";

/** Events whose outcome the final item repeats. */
const progress =
  /^(keepalive|ping)$|^response\.(content_part|reasoning_part|reasoning_summary_part|custom_tool_call_input|mcp_call|mcp_call_arguments|mcp_list_tools|web_search_call|file_search_call|code_interpreter_call|code_interpreter_call_code|image_generation_call|shell_call_command|shell_call_output_content|apply_patch_call_operation_diff|compaction|audio)\./;
