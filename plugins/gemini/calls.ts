import { textAt } from "venturi/internal";
import type { Delta, JsonPlace, Quirks, ToolCallDelta } from "venturi/plugin";
import { asText } from "venturi/plugin/provider";
import { PartialArguments } from "./partial-arguments.ts";

type Wire = Readonly<Record<string, unknown>>;

/** The frame's text and the value's place in it: re-encoding would change long numbers. */
export interface Source {
  readonly text: string;
  readonly place: JsonPlace;
}

interface CallPart {
  readonly call: Wire;
  readonly signature: string | undefined;
  readonly source: Source;
}

interface OpenCall {
  readonly index: number;
  readonly id: string | undefined;
  readonly partial: PartialArguments;
  /** Whether the arguments arrived in one piece. */
  whole: boolean;
}

/** Gemini's calls: complete in one part, or on Vertex in pieces until a part without `willContinue`. */
export class Calls {
  readonly #quirks: Quirks;
  /** The call whose arguments are arriving, and those that still may. */
  #open: OpenCall | undefined;
  readonly #unclosed = new Map<string, OpenCall>();
  #count = 0;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  get count(): number {
    return this.#count;
  }

  push({ call, signature, source }: CallPart, out: Delta[]): void {
    const more = call.willContinue === true;
    const begun = this.#begin(call);
    const open = this.#open;
    if (open === undefined) return this.#quirks.count("call_without_name");
    const delta: { -readonly [K in keyof ToolCallDelta]: ToolCallDelta[K] } = { type: "tool_call", index: open.index };
    if (begun) delta.name = String(call.name);
    if (begun && open.id !== undefined) delta.id = open.id;
    if (signature !== undefined) delta.signature = signature;
    delta.arguments = this.#arguments(open, call, source) + (more || open.whole ? "" : open.partial.close());
    if (open.partial.broken) this.#quirks.count("arguments_out_of_order");
    if (!more) delta.sealed = true;
    if (!more) this.#close(open);
    out.push(delta);
  }

  #close(call: OpenCall): void {
    if (call.id !== undefined) this.#unclosed.delete(call.id);
    this.#open = undefined;
  }

  /** Whether this part begins a call; one with the id of a call that is not closed continues that, one without name and id the open one. */
  #begin(call: Wire): boolean {
    const name = asText(call.name);
    const id = asText(call.id);
    const known = id === undefined ? undefined : this.#unclosed.get(id);
    if (known !== undefined) {
      this.#open = known;
      return false;
    }
    if (name === undefined) {
      // The id of no call: its arguments belong to none that is known.
      if (id !== undefined && this.#open?.id !== undefined) this.#open = undefined;
      return false;
    }
    // A call not closed at the end stays incomplete and is never run.
    if (this.#open !== undefined) this.#quirks.count("call_not_closed");
    this.#open = { index: this.#count++, id, partial: new PartialArguments(), whole: false };
    if (id !== undefined) this.#unclosed.set(id, this.#open);
    return true;
  }

  #arguments(open: OpenCall, call: Wire, { text, place }: Source): string {
    const { args } = call;
    if (open.whole) return "";
    if (args === undefined || args === null || isEmpty(args)) {
      const number = (at: number) => textAt(text, [...place, "partialArgs", at, "numberValue"]);
      return open.partial.write(call.partialArgs, number);
    }
    open.whole = true;
    if (typeof args === "string") this.#quirks.count("arguments_as_text");
    return typeof args === "string" ? args : (textAt(text, [...place, "args"]) ?? JSON.stringify(args));
  }
}

const isEmpty = (args: unknown): boolean => typeof args === "object" && args !== null && Object.keys(args).length === 0;
