import { answerOf, asIndex, otherFields, ToldFields } from "venturi/internal";
import type { Decoder, Delta, FinishReason, Frame, VenturiError } from "venturi/plugin";
import { asList, asRecord, asText, parseJson, Quirks } from "venturi/plugin/provider";
import { Calls, type Source } from "./calls.ts";
import { broken, errorOf, malformedCall } from "./errors.ts";
import { usageOf } from "./usage.ts";

export const wireName = "gemini";

type Wire = Readonly<Record<string, unknown>>;

/**
 * Decodes streamGenerateContent. There is no end event: the body ends after a finishReason or a blocked prompt, or it was cut.
 */
export class GeminiDecoder implements Decoder {
  readonly quirks = new Quirks();
  readonly #calls = new Calls(this.quirks);
  #thinking = false;
  #thoughts = -1;
  #finish: string | undefined;
  #finishMessage: string | undefined;
  #blocked: string | undefined;
  #figures: Wire | undefined;
  #reported = false;
  #live = false;
  #identified = false;
  readonly #told = new ToldFields();
  #ended = false;

  push(frame: Frame, out: Delta[]): void {
    if (this.#ended) return this.quirks.count("after_end");
    const parsed = parseJson(frame.data);
    if (typeof parsed !== "object" || parsed === null) return this.#unreadable(frame, out);
    // An array in one event: a gateway wrapped the other form of this wire.
    if (!Array.isArray(parsed)) return this.#response(asRecord(parsed), { text: frame.data, place: [] }, out);
    for (let at = 0; at < parsed.length; at++) {
      this.#response(asRecord(parsed[at]), { text: frame.data, place: [at] }, out);
    }
  }

  end(out: Delta[]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#tellUsage(out);
    if (this.#finish !== undefined && failures.has(this.#finish)) {
      out.push({ type: "error", error: malformedCall(this.#finish, this.#finishMessage) });
      return;
    }
    const raw = this.#raw;
    if (raw !== undefined) out.push({ type: "done", finish: this.#reason(), raw });
    // A Live session has turns but no end event: it ends when its socket closes.
    else if (this.#live) out.push({ type: "done", finish: "other", raw: "session closed" });
    else
      out.push({ type: "error", error: broken("the stream ended before a finishReason; what arrived is incomplete") });
  }

  #unreadable(frame: Frame, out: Delta[]): void {
    const data = frame.data.trim();
    if (data === "" || data.startsWith(":")) return this.quirks.count("comment_as_data");
    if (data === "[DONE]") return this.quirks.count("done_sentinel");
    this.#fail(broken("an event is not valid JSON; the stream cannot be trusted further", { malformed: true }), out);
  }

  #fail(error: VenturiError, out: Delta[]): void {
    this.#ended = true;
    this.#tellUsage(out);
    out.push({ type: "error", error });
  }

  #response(response: Wire, source: Source, out: Delta[]): void {
    if (this.#ended) return;
    if (response.error !== undefined && response.error !== null) {
      return this.#fail(errorOf(response), out);
    }
    if (!this.#identified) this.#identify(response, out);
    this.#tell(response, out);
    const candidates = asList(response.candidates);
    for (let i = 0; i < candidates.length; i++) {
      this.#candidate(asRecord(candidates[i]), { ...source, place: [...source.place, "candidates", i] }, out);
    }
    const blocked = specified(asRecord(response.promptFeedback).blockReason);
    if (blocked !== undefined) this.#block(blocked, asRecord(response.promptFeedback), out);
    if (response.usageMetadata !== undefined) this.#count(asRecord(response.usageMetadata), out);
    if (candidates.length === 0 && blocked === undefined && response.usageMetadata === undefined) this.#other(response);
  }

  /** Fields of the answer, and of its candidate under `candidate.`; most are repeated in every chunk. */
  #tell(response: Wire, out: Delta[]): void {
    const own = otherFields(response, known.response);
    const [first] = asList(response.candidates);
    const ofCandidate = first === undefined ? undefined : otherFields(asRecord(first), known.candidate, "candidate.");
    if (own === undefined && ofCandidate === undefined) return;
    const news = this.#told.news({ ...own, ...ofCandidate });
    if (news !== undefined) out.push({ type: "response", ...answerOf(wireName, news) });
  }

  #identify(response: Wire, out: Delta[]): void {
    const id = asText(response.responseId);
    const model = asText(response.modelVersion);
    if (id === undefined && model === undefined) return;
    this.#identified = true;
    out.push({ type: "response", ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) });
  }

  #candidate(candidate: Wire, { text, place }: Source, out: Delta[]): void {
    if ((asIndex(candidate.index) ?? place.at(-1)) !== 0) return this.quirks.count("further_candidate");
    if (this.#finish !== undefined && asList(asRecord(candidate.content).parts).length > 0) {
      this.quirks.count("content_after_finish");
    }
    const parts = asList(asRecord(candidate.content).parts);
    for (let at = 0; at < parts.length; at++) {
      this.#part(asRecord(parts[at]), { text, place: [...place, "content", "parts", at] }, out);
    }
    this.#finish = specified(candidate.finishReason) ?? this.#finish;
    this.#finishMessage = asText(candidate.finishMessage) ?? this.#finishMessage;
    for (const key of citations) {
      if (candidate[key] === undefined) continue;
      out.push({ type: "activity", kind: "citation", wire: wireName, data: { [key]: candidate[key] } });
    }
  }

  #part(part: Wire, { text, place }: Source, out: Delta[]): void {
    const signature = asText(part.thoughtSignature);
    if (typeof part.text === "string") {
      if (part.thought === true) return this.#thought(part.text, signature, out);
      this.#thinking = false;
      if (signature !== undefined) out.push({ type: "text", text: part.text, signature });
      else if (part.text !== "") out.push({ type: "text", text: part.text });
      return;
    }
    if (part.functionCall !== undefined) {
      this.#thinking = false;
      const source = { text, place: [...place, "functionCall"] };
      return this.#calls.push({ call: asRecord(part.functionCall), signature, source }, out);
    }
    this.#kept(part, signature, out);
  }

  #thought(text: string, signature: string | undefined, out: Delta[]): void {
    if (!this.#thinking) this.#thoughts++;
    this.#thinking = true;
    const part = this.#thoughts;
    out.push(
      signature === undefined ? { type: "reasoning", text, part } : { type: "reasoning", text, part, signature },
    );
  }

  /** Code executed by Google, files, server-side tools: not for the client to execute; sent back verbatim with the signature. */
  #kept(part: Wire, signature: string | undefined, out: Delta[]): void {
    this.#thinking = false;
    for (const key of served) {
      if (part[key] === undefined) continue;
      out.push({ type: "activity", kind: "server_tool", wire: wireName, data: part, keep: true });
      return;
    }
    if (part.inlineData === undefined && part.fileData === undefined) {
      if (Object.keys(part).length === 0) return;
      if (signature !== undefined && Object.keys(part).length === 1) {
        out.push({ type: "text", text: "", signature });
        return;
      }
      this.quirks.count("unknown_part");
    }
    out.push({ type: "activity", kind: "part", wire: wireName, data: part, keep: true });
  }

  #block(reason: string, feedback: Wire, out: Delta[]): void {
    this.#blocked = reason;
    const message = asText(feedback.blockReasonMessage);
    if (message !== undefined) out.push({ type: "refusal", text: message });
  }

  /** The figures grow with every chunk; they are emitted first, last, and if the stream fails in between. */
  #count(figures: Wire, out: Delta[]): void {
    const first = this.#figures === undefined;
    this.#figures = figures;
    this.#reported = false;
    if (first || this.#raw !== undefined) this.#tellUsage(out);
  }

  #tellUsage(out: Delta[]): void {
    if (this.#reported || this.#figures === undefined) return;
    this.#reported = true;
    const usage = usageOf(this.#figures, this.#raw === undefined ? "partial" : "reported");
    out.push({ type: "usage", usage, ...answerOf(wireName, otherFields(this.#figures, new Set())) });
  }

  get #raw(): string | undefined {
    return this.#finish ?? this.#blocked;
  }

  #other(response: Wire): void {
    if (response.setupComplete !== undefined) {
      this.#live = true;
      this.quirks.count("live_session");
    } else if (response.promptFeedback === undefined) {
      this.quirks.count("unknown_event");
    }
  }

  #reason(): FinishReason {
    if (this.#finish === undefined) return "content_filter";
    const finish = finishes.get(this.#finish) ?? "other";
    return finish === "stop" && this.#calls.count > 0 ? "tool_calls" : finish;
  }
}

/** Treats an enum's zero value as absent; gateways write it out where Google omits the field. */
const specified = (reason: unknown): string | undefined =>
  typeof reason === "string" && reason.endsWith("_UNSPECIFIED") ? undefined : asText(reason);

/** The fields that are read here. */
const known = {
  response: new Set(["candidates", "usageMetadata", "responseId", "modelVersion", "error"]),
  candidate: new Set([
    "content",
    "finishReason",
    "index",
    "groundingMetadata",
    "citationMetadata",
    "urlContextMetadata",
  ]),
};

const citations = ["groundingMetadata", "citationMetadata", "urlContextMetadata"] as const;
const served = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"] as const;

/** The model tried to call a tool and wrote something invalid, so there is no answer. */
const failures: ReadonlySet<string> = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]);

const finishes: ReadonlyMap<string, FinishReason> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
  ["CONTINUATION", "pause"],
]);
