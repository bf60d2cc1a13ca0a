import { answerOf, textAt } from "venturi/internal";
import type { Delta, JsonPlace, Quirks } from "venturi/plugin";
import { asText } from "venturi/plugin/provider";
import { type ClientCall, clientCallOf } from "./items.ts";
import { fieldsOfCall, tellFields } from "./other-fields.ts";
import type { Output } from "./outputs.ts";

type Json = Readonly<Record<string, unknown>>;

/** The event's text, and a value's place in it: re-encoding would change long numbers. */
interface Source {
  readonly text: string;
  readonly place: JsonPlace;
}

interface Arguments {
  readonly value: unknown;
  readonly source: Source;
}

export interface Item {
  readonly item: Json;
  readonly source: Source;
}

/** The calls of a response: functions as they stream, vendor calls at the end. */
export class Calls {
  readonly #quirks: Quirks;
  readonly #ids = new Set<string>();
  /** Until the end the vendor may still execute them itself. */
  readonly #clientCalls = new Map<string, ClientCall>();
  readonly #answered = new Set<string>();
  #count = 0;

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
  }

  get count(): number {
    return this.#count;
  }

  knows(id: string | undefined): boolean {
    return id !== undefined && this.#ids.has(id);
  }

  open(output: Output, item: Json, out: Delta[]): number {
    const index = this.#count++;
    output.call = index;
    const id = asText(item.call_id) ?? asText(item.id);
    output.callId = asText(item.call_id);
    const name = asText(item.name);
    output.name = name;
    const namespace = asText(item.namespace);
    if (id !== undefined) this.#ids.add(id);
    out.push({
      type: "tool_call",
      index,
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { signature: JSON.stringify({ type: "function_call", namespace }) }),
      ...answerOf("openai-responses", fieldsOfCall(output, item)),
    });
    return index;
  }

  piece(output: Output, piece: unknown, out: Delta[]): void {
    if (typeof piece !== "string" || piece === "") return;
    const index = output.call ?? this.open(output, {}, out);
    output.arguments += piece;
    out.push({ type: "tool_call", index, arguments: piece });
  }

  /**
   * The final arguments replace the fragments: some servers send none, some send them encrypted. They do not end the call; the item does,
   * and it may be the only one that has them.
   */
  whole(output: Output, { value, source }: Arguments, out: Delta[]): void {
    const whole = typeof value === "object" && value !== null ? textAt(source.text, source.place) : value;
    if (typeof whole !== "string") return;
    const index = output.call ?? this.open(output, {}, out);
    const given = output.arguments;
    output.done = true;
    // Some servers omit the arguments from the item that ends the call.
    if (whole === given || whole === "") return;
    output.arguments = whole;
    if (given !== "") this.#quirks.count("arguments_differ");
    out.push({ type: "tool_call", index, arguments: whole, ...(given !== "" && { replace: true }) });
  }

  /** The item that ends a function call. */
  complete(output: Output, { item, source }: Item, out: Delta[]): void {
    const index = output.call ?? this.open(output, item, out);
    output.ended = true;
    const fields = fieldsOfCall(output, item);
    if (fields !== undefined) tellFields("openai-responses", { call: asText(item.call_id) ?? "", item: fields }, out);
    if (item.status === "incomplete") return;
    const place = [...source.place, "arguments"];
    this.whole(output, { value: item.arguments ?? output.arguments, source: { text: source.text, place } }, out);
    const name = asText(item.name);
    const id = asText(item.call_id);
    output.callId ??= id;
    output.name ??= name;
    const known = { ...(name !== undefined && { name }), ...(id !== undefined && { id }) };
    out.push({ type: "tool_call", index, ...known, sealed: true });
  }

  /** Takes an item the client must execute; false when it is not one. */
  takeClientCall(item: Json): boolean {
    const call = clientCallOf(item);
    // An item may be sent again.
    if (call !== undefined) this.#clientCalls.set(`${call.call} ${call.name} ${call.arguments}`, call);
    return call !== undefined;
  }

  /** The vendor has executed the call. */
  answered(call: string | undefined): void {
    if (call !== undefined) this.#answered.add(call);
  }

  tellClientCalls(out: Delta[]): void {
    for (const { call, name, arguments: args, signature, kind } of this.#clientCalls.values()) {
      if (call !== undefined && this.#answered.has(call)) continue;
      const id = call === undefined ? {} : { id: call };
      out.push({
        type: "tool_call",
        index: this.#count++,
        ...id,
        name,
        arguments: args,
        signature,
        kind,
        sealed: true,
      });
    }
  }
}
