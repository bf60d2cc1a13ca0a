import { answerOf, asIndex, emptyMap, JsonScanner, textAt, withEntry } from "venturi/internal";
import type { Delta, JsonPlace, NativeAnswer, Quirks } from "venturi/plugin";
import { asList, asRecord, asText } from "venturi/plugin/provider";
import { fieldsOfCall } from "./other-fields.ts";

/** The wire's identification of a call: its index, the legacy `function_call`, or nothing. */
type Key = number | "function_call" | undefined;

interface Fragment {
  readonly key: Key;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly piece: string;
  /** The fragment is the complete text. */
  readonly whole: boolean;
  readonly custom: boolean;
  readonly signature: string | undefined;
  readonly native: { readonly native?: NativeAnswer };
}

/** The chunk's text, and the place of the delta or message in it. */
export interface Source {
  readonly text: string;
  readonly place: JsonPlace;
}

interface Call {
  readonly index: number;
  readonly key: Key;
  readonly custom: boolean;
  id: string | undefined;
  name: string | undefined;
  text: string;
  scanner: JsonScanner;
}

/**
 * Assigns fragments to calls. Servers omit indexes and ids, reuse one index for several calls, send a new id with every
 * fragment, repeat names, and resend earlier fragments; these rules cover everything observed and never merge two calls that a
 * server meant as two.
 */
export class ToolCalls {
  readonly #quirks: Quirks;
  readonly #calls: Call[] = [];
  #byKey = emptyMap<Key, Call>();
  #byId = emptyMap<string, Call>();
  #last: Call | undefined;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** `delta.tool_calls` of one chunk. */
  push(toolCalls: unknown, out: Delta[], source: Source): void {
    let touched: Call | undefined;
    for (const [at, entry] of asList(toolCalls).entries()) {
      const fragment = this.#read(entry, (to) => exact(source, ["tool_calls", at, ...to]));
      const repeated = source.place.at(-1) === "message" ? this.#repeated(fragment, at) : undefined;
      const call = repeated ?? this.#find(fragment, touched) ?? this.#open(fragment);
      touched = call;
      const isKnown = repeated?.custom && repeated.text === wrapped("", fragment.piece);
      this.#extend(call, isKnown ? { ...fragment, piece: "" } : fragment, out);
    }
  }

  /** The legacy `delta.function_call`. */
  pushFunctionCall(functionCall: unknown, out: Delta[], source: Source): void {
    this.#quirks.count("function_call");
    const text = (to: JsonPlace) => exact(source, ["function_call", ...to.slice(1)]);
    const fragment: Fragment = { ...this.#read({ function: functionCall }, text), key: "function_call" };
    this.#extend(this.#byKey.get("function_call") ?? this.#open(fragment), fragment, out);
  }

  /** End of the generation: closes the quote of free text wrapped in JSON. */
  close(out: Delta[]): void {
    for (const call of this.#calls) {
      if (call.custom) this.#append(call, call.text === "" ? '{"input":""}' : '"}', out);
    }
  }

  /** `text` returns the original text of a value in the entry. */
  #read(entry: unknown, text: (place: JsonPlace) => string | undefined): Fragment {
    const whole = asRecord(entry);
    const { index, id, extra_content, custom, ...flat } = whole;
    const isCustom = custom !== undefined && custom !== null;
    const body = isCustom ? asRecord(custom) : asRecord("function" in flat ? flat.function : this.#flat(flat));
    const at = isCustom ? ["custom"] : body === flat ? [] : ["function"];
    const content = isCustom ? body.input : body.arguments;
    const isObject = typeof content === "object" && content !== null;
    if (isObject) this.#quirks.count("arguments_object");
    const name = asText(body.name);
    return {
      key: asIndex(index),
      id: this.#id(id),
      name,
      piece: isObject
        ? (text([...at, isCustom ? "input" : "arguments"]) ?? JSON.stringify(content))
        : typeof content === "string"
          ? content
          : "",
      whole: isObject,
      custom: isCustom,
      signature: asText(asRecord(asRecord(extra_content).google).thought_signature),
      native: name === undefined || body === flat ? {} : othersOf(whole, body, isCustom ? "custom" : "function"),
    };
  }

  #flat(entry: Readonly<Record<string, unknown>>): unknown {
    if ("name" in entry || "arguments" in entry) this.#quirks.count("flat_call");
    return entry;
  }

  /** Devstral behind Mistral sends the id of a continuation as the string "null". */
  #id(id: unknown): string | undefined {
    if (id === "null") this.#quirks.count("id_null");
    return id === "null" ? undefined : asText(id);
  }

  /** The call a fragment continues; undefined: it starts a new one. `touched`: had a fragment in this chunk. */
  #find(fragment: Fragment, touched: Call | undefined): Call | undefined {
    if (fragment.key === undefined) return this.#findUnindexed(fragment, touched);
    const call = this.#byKey.get(fragment.key);
    if (call === undefined || !isAnother(call, fragment)) return call;
    this.#quirks.count("index_reused");
    return undefined;
  }

  /** A whole message has all calls so far, in their order. */
  #repeated({ id, name }: Fragment, at: number): Call | undefined {
    const call = this.#calls[at];
    return call?.name === name && (id === undefined || call?.id === undefined || id === call.id) ? call : undefined;
  }

  #findUnindexed(fragment: Fragment, touched: Call | undefined): Call | undefined {
    this.#quirks.count("index_missing");
    const { id, name } = fragment;
    if (id !== undefined) {
      const known = this.#byId.get(id);
      if (known !== undefined) return known;
      // A late id belongs to the open call, unless the fragment starts a call by its name.
      return this.#last !== undefined && this.#last.id === undefined && name === undefined ? this.#last : undefined;
    }
    const last = this.#last;
    if (last === undefined || name === undefined) return last;
    if (last === touched || last.name !== name) return undefined;
    return last.scanner.closed && fragment.piece !== "" ? undefined : last;
  }

  #open(fragment: Fragment): Call {
    const call: Call = {
      index: this.#calls.length,
      key: fragment.key,
      custom: fragment.custom,
      id: undefined,
      name: undefined,
      text: "",
      scanner: new JsonScanner(),
    };
    this.#calls.push(call);
    this.#byKey = withEntry(this.#byKey, fragment.key, call);
    return call;
  }

  #extend(call: Call, fragment: Fragment, out: Delta[]): void {
    this.#last = call;
    const { id, name, signature } = fragment;
    const resent = this.#isResent(call, fragment);
    const delta: { -readonly [K in keyof ToolCall]: ToolCall[K] } = { type: "tool_call", index: call.index };
    if (call.id === undefined && id !== undefined) {
      delta.id = call.id = id;
      if (!this.#byId.has(id)) this.#byId = withEntry(this.#byId, id, call);
    } else if (id !== undefined && id !== call.id) this.#quirks.count("id_rotated");
    if (call.name === undefined && name !== undefined) {
      delta.name = call.name = name;
      Object.assign(delta, fragment.native);
    } else if (name !== undefined && !resent) this.#quirks.count("name_repeated");
    if (signature !== undefined) delta.signature = signature;
    if (fragment.piece !== "") {
      if (resent) {
        delta.replace = true;
        call.text = "";
        call.scanner = new JsonScanner();
      }
      delta.arguments = call.custom ? wrapped(call.text, fragment.piece) : fragment.piece;
      call.text += delta.arguments;
      call.scanner.push(delta.arguments);
    }
    out.push(delta);
  }

  /** Cerebras resends the complete arguments at the end; gateways send `{}` before the real ones. */
  #isResent(call: Call, fragment: Fragment): boolean {
    const { piece } = fragment;
    if (piece === "" || call.text === "" || call.custom) return false;
    if (!call.scanner.closed) return fragment.whole;
    const resent = fragment.whole || startsObject(piece);
    if (resent) this.#quirks.count(call.scanner.empty ? "arguments_placeholder" : "arguments_resent");
    return resent;
  }

  #append(call: Call, piece: string, out: Delta[]): void {
    call.text += piece;
    call.scanner.push(piece);
    out.push({ type: "tool_call", index: call.index, arguments: piece, sealed: true });
  }
}

/** Original text of a call's value: re-encoding would change long numbers. */
const exact = ({ text, place }: Source, within: JsonPlace): string | undefined => textAt(text, [...place, ...within]);

const othersOf = (...of: Parameters<typeof fieldsOfCall>) => answerOf("openai-chat", fieldsOfCall(...of));

type ToolCall = Extract<Delta, { type: "tool_call" }>;

/**
 * Whether a fragment with a used index starts another call: a different or missing id, and another name, or the same one after a call that
 * is complete (Ollama's /v1 gives every call index 0). An id alone proves nothing: Oracle's gateway sends a new one with every
 * continuation, and an empty name.
 */
function isAnother(call: Call, fragment: Fragment): boolean {
  const { id, name, piece } = fragment;
  if (name === undefined || call.name === undefined) return false;
  if (id !== undefined && id === call.id) return false;
  if (name !== call.name) return true;
  if (!call.scanner.closed) return false;
  if (id !== undefined && call.id !== undefined) return true;
  return startsObject(piece) && piece !== call.text;
}

const startsObject = (piece: string): boolean => /^\s*\{/.test(piece);

/** Free text of a custom tool as the arguments object `{"input": "…"}`, incrementally. */
function wrapped(before: string, piece: string): string {
  const escaped = JSON.stringify(piece).slice(1, -1);
  return before === "" ? `{"input":"${escaped}` : escaped;
}
