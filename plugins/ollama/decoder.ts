import { answerOf, otherFields, RepeatedJson, textAt, varying } from "venturi/internal";
import type { Decoder, Delta, FinishReason, Frame, JsonPlace, ToolCallDelta, Usage } from "venturi/plugin";
import { asCount, asList, asRecord, asText, Quirks } from "venturi/plugin/provider";
import { broken, errorOf } from "./errors.ts";

export const wireName = "ollama";

type Wire = Readonly<Record<string, unknown>>;

/** Values that vary from line to line. */
const changing = varying([["message", "content"], ["message", "thinking"], ["response"]], [["created_at"]]);

/** The fields of the last line that are read, and those all lines share. */
const known = new Set(["model", "created_at", "message", "response", "thinking", "done", "done_reason", "error"]);

/** One JSON object per line, from /api/chat (`message`) and /api/generate (`response`); the last has `done: true`. */
export class OllamaDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #json = new RepeatedJson(changing);
  #calls = 0;
  #identified = false;
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return this.quirks.count("after_end");
    const parsed = this.#json.parse(frame.data);
    if (typeof parsed !== "object" || parsed === null) {
      this.#ended = true;
      out.push({
        type: "error",
        error: broken("a line is not valid JSON; the stream cannot be trusted further", { malformed: true }),
      });
      return;
    }
    this.#line(asRecord(parsed), frame.data, out);
  }

  end(out: Delta[]): void {
    if (this.#ended) return;
    this.#ended = true;
    out.push({ type: "error", error: broken("the stream ended before a line with done; what arrived is incomplete") });
  }

  #line(line: Wire, source: string, out: Delta[]): void {
    if (line.error !== undefined && line.error !== null) {
      this.#ended = true;
      out.push({ type: "error", error: errorOf(line) });
      return;
    }
    if (!this.#identified && asText(line.model) !== undefined) {
      this.#identified = true;
      out.push({ type: "response", model: String(line.model) });
    }
    const message = asRecord(line.message);
    const thinking = message.thinking ?? line.thinking;
    const text = message.content ?? line.response;
    if (typeof thinking === "string" && thinking !== "") out.push({ type: "reasoning", text: thinking });
    if (typeof text === "string" && text !== "") out.push({ type: "text", text });
    if (message.tool_calls !== undefined) {
      const calls = asList(message.tool_calls);
      for (let at = 0; at < calls.length; at++) {
        this.#call(asRecord(calls[at]), { text: source, place: ["message", "tool_calls", at] }, out);
      }
    }
    for (const image of asList(message.images)) {
      out.push({ type: "activity", kind: "part", wire: wireName, data: { image } });
    }
    if (line.done === true) this.#done(line, out);
    else if (line.message === undefined && text === undefined && thinking === undefined)
      this.quirks.count("unknown_event");
  }

  /** Calls arrive complete and in order; `function.index` is missing on the first, so it is ignored. */
  #call(call: Wire, { text, place }: { text: string; place: JsonPlace }, out: Delta[]): void {
    const within = call.function == null ? place : [...place, "function"];
    const inner = asRecord(call.function ?? call);
    const name = asText(inner.name);
    if (name === undefined) return this.quirks.count("call_without_name");
    const given = inner.arguments ?? undefined;
    if (typeof given === "string") this.quirks.count("arguments_as_text");
    const delta: { -readonly [K in keyof ToolCallDelta]: ToolCallDelta[K] } = {
      type: "tool_call",
      index: this.#calls++,
      name,
      // As the model wrote them: re-encoding would change long numbers.
      arguments:
        typeof given === "string"
          ? given
          : given === undefined
            ? "{}"
            : (textAt(text, [...within, "arguments"]) ?? JSON.stringify(given)),
      sealed: true,
    };
    if (asText(call.id) !== undefined) delta.id = String(call.id);
    out.push(delta);
  }

  #done(line: Wire, out: Delta[]): void {
    this.#ended = true;
    const usage: Usage = {};
    const input = asCount(line.prompt_eval_count);
    const output = asCount(line.eval_count);
    if (input !== undefined) usage.inputTokens = input;
    if (output !== undefined) usage.outputTokens = output;
    // Older builds do not count a cached prompt again.
    if (input === undefined || output === undefined) usage.source = "partial";
    // Everything else in the last line is usage figures.
    const figures = answerOf(wireName, otherFields(line, known));
    if (input !== undefined || output !== undefined || figures.native) out.push({ type: "usage", usage, ...figures });
    const raw = asText(line.done_reason);
    if (raw === undefined) this.quirks.count("missing_done_reason");
    const finish = this.#finish(raw);
    out.push(raw === undefined ? { type: "done", finish } : { type: "done", finish, raw });
  }

  #finish(raw: string | undefined): FinishReason {
    if (raw === "length") return "length";
    if (raw !== undefined && raw !== "stop" && raw !== "tool_calls") return "other";
    return this.#calls > 0 ? "tool_calls" : "stop";
  }
}
