import type { EventOf, NativeAnswer, PendingCall } from "venturi/plugin";
import { argumentsText, asRecord, parseJson } from "venturi/plugin/provider";
import type { Ended, Item } from "./responses-body.ts";
import { responsesWire } from "./responses-content.ts";
import type { ResponseOutput } from "./responses-output.ts";
import type { ToolForms } from "./responses-tools.ts";

/** A complete call; its arguments are text when they are not a JSON object. */
interface EndedCall {
  readonly call: string;
  readonly name: string;
  readonly arguments: string | Record<string, unknown>;
  readonly raw?: string;
  readonly text?: string;
  readonly signature?: string;
}

interface OpenCall {
  readonly name: string;
  readonly index: number;
  text: string;
  ended: boolean;
  /** The vendor's other fields of the item. */
  readonly fields: Item;
}

interface Begun {
  readonly call: string;
  readonly name: string;
  readonly native?: NativeAnswer;
}

/** Calls of client tools, each as an item in its tool's format. */
export class Calls {
  readonly #output: ResponseOutput;
  readonly #forms: ToolForms;
  readonly #open = new Map<string, OpenCall>();

  constructor(output: ResponseOutput, forms: ToolForms) {
    this.#output = output;
    this.#forms = forms;
  }

  begin({ call, name, native }: Begun): string {
    const index = this.#output.items.length;
    const fields = native?.wire === responsesWire ? { ...native.fields } : {};
    this.#open.set(call, { name, index, text: "", ended: false, fields });
    if (!this.#forms.whole.has(name)) {
      return this.#output.add(this.#functionCall(index, { call, name }, "", "in_progress"));
    }
    // Anything but a plain function is emitted when complete; until then it reserves its position.
    this.#output.reserve();
    return "";
  }

  extend({ call, arguments: delta }: EventOf<"tool_call.delta">): string {
    const open = this.#open.get(call);
    if (open === undefined) return "";
    open.text += delta;
    if (!this.#isFunction(open.index)) return "";
    return this.#output.frame("response.function_call_arguments.delta", { ...this.#output.place(open.index), delta });
  }

  /** Handles vendor fields of a call after its beginning; false if they belong to something else. */
  fields(data: unknown): boolean {
    const { call, item } = asRecord(data);
    if (typeof call !== "string") return false;
    Object.assign(this.#open.get(call)?.fields ?? {}, item);
    return true;
  }

  /** Calls that were not streamed. */
  rest(calls: readonly PendingCall[]): string {
    const isUnsent = calls.filter(({ call }) => !this.#open.has(call));
    return isUnsent.map((call) => this.begin(call) + this.end(call)).join("");
  }

  end(event: EndedCall): string {
    const open = this.#open.get(event.call);
    if (open === undefined) return "";
    open.ended = true;
    return this.#isFunction(open.index) ? this.#endFunction(event, open) : this.#whole(event, open.index);
  }

  /** Ends the open calls of an interrupted stream as incomplete. */
  cut(): string {
    let frames = "";
    for (const [call, { name, index, text, ended }] of this.#open) {
      if (ended || !this.#isFunction(index)) continue;
      frames += this.#output.done(index, this.#functionCall(index, { call, name }, text, "incomplete"));
    }
    return frames;
  }

  /** Whether a whole call was sent from this position on. */
  hasEnded(from: number): boolean {
    return [...this.#open.values()].some(({ index, ended }) => ended && index >= from);
  }

  /** Drops calls from this position on. */
  drop(from: number): void {
    for (const [call, { index }] of this.#open) if (index >= from) this.#open.delete(call);
  }

  #isFunction(index: number): boolean {
    return this.#output.items[index]?.type === "function_call";
  }

  #endFunction(event: EndedCall, { index, text: streamed }: OpenCall): string {
    const { arguments: given } = event;
    const written = typeof given === "string" ? given : argumentsText({ ...event, arguments: given });
    const text = streamed === "" ? written : streamed;
    const place = this.#output.place(index);
    const isUnsent = streamed === "" && text !== "";
    return (
      (isUnsent ? this.#output.frame("response.function_call_arguments.delta", { ...place, delta: text }) : "") +
      this.#output.frame("response.function_call_arguments.done", { ...place, name: event.name, arguments: text }) +
      this.#output.done(index, this.#functionCall(index, event, text, isJson(text) ? "completed" : "incomplete"))
    );
  }

  /** A custom tool's call, or a vendor call as the vendor wrote it. */
  #whole(event: EndedCall, index: number): string {
    const vendors = event.signature === undefined ? {} : asRecord(parseJson(event.signature));
    const isCustom = this.#forms.custom.has(event.name);
    const item: Item = isCustom
      ? { ...vendors, ...this.#customCall(index, event) }
      : { ...vendors, id: this.#output.id("call", index), call_id: event.call };
    this.#output.items[index] = item;
    const begun = isCustom ? { ...item, input: "" } : item;
    const place = this.#output.place(index);
    const { input } = item;
    const said = isCustom
      ? this.#output.frame("response.custom_tool_call_input.delta", { ...place, delta: input }) +
        this.#output.frame("response.custom_tool_call_input.done", { ...place, input })
      : "";
    const added = this.#output.frame("response.output_item.added", { output_index: index, item: begun });
    return added + said + this.#output.done(index, item);
  }

  #customCall(index: number, { call, name, arguments: given, raw }: EndedCall): Item {
    const input = typeof given === "string" ? given : (raw ?? String(given.input ?? ""));
    const id = this.#output.id("ctc", index);
    return { id, type: "custom_tool_call", status: "completed", call_id: call, name, input };
  }

  #functionCall(
    index: number,
    { call, name }: { readonly call: string; readonly name: string },
    text: string,
    status: Ended | "in_progress",
  ): Item {
    const namespace = this.#forms.namespaces.get(name);
    return {
      id: this.#output.id("fc", index),
      type: "function_call",
      status,
      call_id: call,
      name,
      arguments: text,
      ...(namespace === undefined ? {} : { namespace }),
      ...this.#open.get(call)?.fields,
    };
  }
}

/** Invalid JSON was cut by a limit: the rest of the arguments is missing. */
const isJson = (text: string): boolean => parseJson(text) !== undefined;
