import { performance } from "node:perf_hooks";
import { isDeepStrictEqual } from "node:util";
import { VenturiError } from "../core/errors/errors.ts";
import type { FinishReason, ToolCallDelta } from "../core/model/deltas.ts";
import type { StreamObserver } from "../core/model/provider.ts";
import { flatten } from "../core/values/flat-text.ts";
import { keepOne } from "../core/values/keep-one.ts";
import { excessOfJson } from "../core/values/value-limits.ts";
import { JsonScanner } from "./fast-json/scanner.ts";

export type CallResult =
  | { readonly ok: true; readonly arguments: Record<string, unknown> }
  | { readonly ok: false; readonly error: VenturiError; readonly raw: string };

/** Why no more arguments can follow: their JSON closed, the wire ended the call, or the generation ended. */
export type Seal = "arguments" | "wire" | "generation";

/** A tool call as received so far. */
export interface OpenCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** The arguments' JSON text so far. */
  readonly text: string;
  readonly bytes: number;
  /** How much of the text is final. An empty or unusual beginning is not: it may be a placeholder or encrypted. */
  readonly settled: number;
  /** No further delta can change it. */
  readonly sealed: boolean;
  readonly sealedBy: Seal | undefined;
  readonly signature: string | undefined;
  /** The vendor's type, when it is not one of the request's functions. */
  readonly kind: string | undefined;
  /** Parses the text, once. Never repairs: anything but a JSON object is an error. */
  result(): CallResult;
}

export interface Step {
  readonly call: OpenCall;
  /** This delta completed the name. */
  readonly opened: boolean;
  /** This delta sealed the call. */
  readonly sealed: boolean;
  /** The wire changed arguments that were already final; a tool may be running with them. */
  readonly contradicted: boolean;
}

/** Assembles tool calls from fragments: O(bytes) in time and memory. A call is sealed once, by evidence. */
export class Accumulator {
  readonly #calls: Call[] = [];
  readonly #run: string | undefined;
  readonly #observer: Pick<StreamObserver, "accumulated"> | undefined;

  /** `run` becomes part of generated call ids, for wires without any. */
  constructor(settings: { run?: string; observer?: Pick<StreamObserver, "accumulated"> | undefined } = {}) {
    this.#run = settings.run;
    this.#observer = settings.observer;
  }

  get open(): readonly OpenCall[] {
    return this.#calls;
  }

  push(delta: ToolCallDelta): Step {
    const observer = this.#observer;
    const start = observer === undefined ? 0 : performance.now();
    const call = this.#call(delta.index);
    const opened = call.identify(delta, this.#run);
    const wasSealed = call.sealed;
    const contradicted = call.contradicts(delta);
    if (!wasSealed || contradicted) call.extend(delta);
    call.sealedBy ??= call.seal(delta);
    const step = { call, opened, sealed: call.sealed && !wasSealed, contradicted };
    observer?.accumulated(delta.chunk ?? -1, call.index, call.bytes, call.sealed, start, performance.now());
    return step;
  }

  /** The generation succeeded: seals every open call, in index order. */
  finish(finish: FinishReason): OpenCall[] {
    const sealed: OpenCall[] = [];
    for (const call of this.#calls) {
      if (call.sealed) continue;
      call.ensureId(this.#run);
      call.sealedBy = "generation";
      call.cut = !goodEnds.has(finish);
      sealed.push(call);
    }
    return sealed;
  }

  #call(index: number): Call {
    let call = this.#calls[index];
    if (call !== undefined) return call;
    if (index !== this.#calls.length) {
      throw new VenturiError(
        "stream.accumulate",
        "internal",
        `the decoder skipped from call ${this.#calls.length - 1} to call ${index}`,
      );
    }
    call = new Call(index);
    this.#calls.push(call);
    return call;
  }
}

/** After any other end the model may have been stopped before it wrote the arguments. */
const goodEnds: ReadonlySet<FinishReason> = new Set(["stop", "tool_calls", "pause"]);

/** Maximum length of a tool name: a longer one matches no tool, and every event of the call would repeat it. */
const longestName = 512;

const beginning = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName - 1).toWellFormed()}…` : name;

class Call implements OpenCall {
  readonly index: number;
  id = "";
  name = "";
  text = "";
  bytes = 0;
  settled = 0;
  sealedBy: Seal | undefined;
  cut = false;
  signature: string | undefined;
  kind: string | undefined;
  #scanner = new JsonScanner();
  #result: CallResult | undefined;
  #flatAt = 0;

  constructor(index: number) {
    this.index = index;
    keepOne(this);
  }

  /** Takes id, name and signature, each from the first delta that has it; true when the name became known. */
  identify(delta: ToolCallDelta, run: string | undefined): boolean {
    if (delta.signature !== undefined) this.signature = delta.signature;
    if (delta.kind !== undefined) this.kind = delta.kind;
    if (this.id === "" && delta.id) this.id = delta.id;
    if (this.name !== "" || !delta.name) return false;
    this.name = beginning(delta.name);
    // The id is published together with the name, so it cannot wait for one that may arrive later.
    this.ensureId(run);
    return true;
  }

  ensureId(run: string | undefined): void {
    if (this.id === "") this.id = run === undefined ? `call_${this.index}` : `call_${run}_${this.index}`;
  }

  get sealed(): boolean {
    return this.sealedBy !== undefined;
  }

  /** A sealed call may be sent again, also with other whitespace. Nothing may be appended, and final text may not change. */
  contradicts({ arguments: piece, replace }: ToolCallDelta): boolean {
    if (piece === undefined || piece === this.text) return false;
    if (replace !== true) return this.sealed && piece.trim() !== "";
    if (!this.sealed) return !piece.startsWith(this.text.slice(0, this.settled));
    return !isDeepStrictEqual(parsed(piece), parsed(this.text));
  }

  /** Appends a fragment of the arguments, or replaces all of them. */
  extend({ arguments: piece, replace }: ToolCallDelta): void {
    if (piece === undefined || (piece === "" && replace !== true)) return;
    if (replace === true) {
      if (piece === this.text) return;
      this.#scanner = new JsonScanner();
      this.text = "";
      this.#flatAt = 0;
      this.bytes = 0;
    }
    this.#result = undefined;
    this.text += piece;
    if (this.text.length > this.#flatAt) this.#flatAt = flatten(this.text);
    this.bytes += Buffer.byteLength(piece);
    this.#scanner.push(piece);
    if (!this.#scanner.empty && !this.#scanner.broken) this.settled = this.text.length;
  }

  /**
   * What seals the call after this delta, if anything. A closed, non-empty object is complete. An empty one may be a placeholder until the
   * wire ends the call; missing arguments may still arrive until the generation ends.
   */
  seal(delta: ToolCallDelta): Seal | undefined {
    if (!this.#scanner.closed || this.name === "") return undefined;
    if (!this.#scanner.empty) return "arguments";
    return delta.sealed === true ? "wire" : undefined;
  }

  result(): CallResult {
    if (!this.sealed) return this.#parse();
    this.#result ??= this.#parse();
    return this.#result;
  }

  #parse(): CallResult {
    const raw = this.text;
    if (raw.trim() === "")
      return this.sealed && !this.cut ? { ok: true, arguments: {} } : this.#failed("were cut off", undefined);
    const excess = excessOfJson(raw);
    if (excess !== undefined) return this.#failed(`cannot be taken: the JSON ${excess}`, undefined);
    try {
      const value: unknown = JSON.parse(raw);
      if (isObject(value)) return { ok: true, arguments: value };
    } catch (cause) {
      return this.#failed(this.cut ? "were cut off" : "are not valid JSON", cause);
    }
    return this.#failed("are not a JSON object", undefined);
  }

  #failed(what: string, cause: unknown): CallResult {
    const message = `the arguments of "${this.name}" ${what}; send one complete JSON object`;
    return {
      ok: false,
      error: new VenturiError("stream.accumulate", "tool_invalid_arguments", message, { cause }),
      raw: this.text,
    };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
