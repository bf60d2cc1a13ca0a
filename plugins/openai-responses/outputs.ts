import { ToldFields } from "venturi/internal";
import { asText } from "venturi/plugin/provider";

/** An output item while it arrives. */
export interface Output {
  /** Position among all items, in order of appearance. */
  readonly position: number;
  readonly type: string;
  readonly itemId: string | undefined;
  done: boolean;
  /** Index, id and name of the tool call, for a function call, and whether the item that ends it has come. */
  call: number | undefined;
  callId: string | undefined;
  name: string | undefined;
  ended: boolean;
  /** The call's arguments so far. */
  arguments: string;
  /** Text emitted so far, by kind and part: `text 0`, `refusal 0`, `summary 1`. */
  readonly given: Map<string, string>;
  annotations: number;
  /** The message has been announced. */
  begun: boolean;
  /** Fields of the item reported so far, and whether its texts came with log probabilities. */
  readonly told: ToldFields;
  logprobs: boolean;
}

/**
 * Maps events to items, by output index: some servers (GitHub Copilot) use a new item id for every event. Others use one index
 * for several items; then a known id decides.
 */
export class Outputs {
  readonly all: Output[] = [];
  readonly #byIndex = new Map<unknown, Output>();
  readonly #byId = new Map<string, Output>();

  add(index: unknown, type: string, itemId: string | undefined): Output {
    const output: Output = {
      position: this.all.length,
      type,
      itemId,
      done: false,
      call: undefined,
      callId: undefined,
      name: undefined,
      ended: false,
      arguments: "",
      given: new Map(),
      annotations: 0,
      begun: false,
      told: new ToldFields(),
      logprobs: false,
    };
    this.all.push(output);
    this.#byIndex.set(index, output);
    if (itemId !== undefined && !this.#byId.has(itemId)) this.#byId.set(itemId, output);
    return output;
  }

  /** Whether this call is the item at this index. */
  has(index: unknown, { call_id, id }: Readonly<Record<string, unknown>>): boolean {
    const known = this.#byIndex.get(index);
    return known?.callId !== undefined && known.callId === call_id && known.itemId === asText(id);
  }

  /**
   * The item of a call, if it is known. `found` has its index, and is that of another call if both ids differ; but vLLM invents new ids for
   * the end of a call and for the final response, so one of `others` with the same name and arguments, or without any yet, is meant then.
   */
  ofCall(
    item: Readonly<Record<string, unknown>>,
    found: Output | undefined,
    others: Iterable<Output>,
  ): Output | undefined {
    const callId = asText(item.call_id);
    const isSame = found?.callId === callId || (found?.itemId !== undefined && found.itemId === item.id);
    if (callId === undefined || isSame) return found;
    const known = this.all.find((output) => output.callId === callId);
    if (known !== undefined) return known;
    const alike = [...others].filter(({ call, name }) => call !== undefined && name === item.name);
    const same = alike.find((other) => other.arguments === item.arguments) ?? alike.find((other) => !other.arguments);
    return same ?? (found?.callId === undefined ? found : undefined);
  }

  find(index: unknown, itemId: string | undefined): Output | undefined {
    const output = this.#byIndex.get(index);
    if (itemId === undefined || (output !== undefined && output.itemId === itemId)) return output;
    return this.#byId.get(itemId) ?? output;
  }
}
