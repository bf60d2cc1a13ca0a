import { wrap } from "../../core/errors/errors.ts";
import type { ActivityDelta, Delta, ReasoningDelta, RefusalDelta, TextDelta } from "../../core/model/deltas.ts";
import type { TextFilter } from "../../core/ports/hooks.ts";
import type { HookChain } from "../run/hook-chain.ts";

type Spoken = "text" | "refusal" | "reasoning";

/** Passes the deltas of one generation through the hooks' filters. Held-back text comes out with a later read or at the end. */
export class FilteredDeltas {
  /** Characters that the model wrote, filtered or not. */
  taken = 0;
  readonly #make: (of: "output" | "reasoning") => TextFilter | undefined;
  readonly #stop: (thrown: unknown) => never;
  readonly #filters = new Map<Spoken, TextFilter>();
  /** The open reasoning block, as the model wrote it and as filtered. */
  #part: number | undefined;
  #thought = "";
  #told = "";
  /** Highest index of a call so far. */
  #calls = -1;

  /** Undefined when no hook filters the model's output. */
  static of(
    hooks: HookChain,
    round: number,
    abort: (error: ReturnType<typeof wrap>) => void,
  ): FilteredDeltas | undefined {
    if (hooks.empty || hooks.filter("output", round) === undefined) return undefined;
    return new FilteredDeltas(
      (of) => hooks.filter(of, round),
      (thrown) => {
        const error = wrap("agent.run", thrown);
        abort(error); // Ends the run: asking another model would not change what the filter refuses.
        throw error;
      },
    );
  }

  private constructor(make: (of: "output" | "reasoning") => TextFilter | undefined, stop: (thrown: unknown) => never) {
    this.#make = make;
    this.#stop = stop;
  }

  apply(batch: readonly Delta[]): readonly Delta[] {
    const passed: Delta[] = [];
    try {
      for (const delta of batch) this.#take(delta, passed);
    } catch (thrown) {
      this.#stop(thrown);
    }
    return passed;
  }

  /** The text held back, once people and judges have decided. */
  async end(): Promise<readonly Delta[]> {
    const passed: Delta[] = [];
    try {
      for (const [type, filter] of this.#filters) {
        const text = await filter.end();
        if (text !== "") passed.push({ type, text, ...(type === "reasoning" ? this.#ofPart() : {}) });
      }
    } catch (thrown) {
      this.#stop(thrown);
    }
    this.#filters.clear();
    return passed;
  }

  #take(delta: Delta, passed: Delta[]): void {
    switch (delta.type) {
      case "text":
      case "refusal":
        return this.#speak(delta, passed);
      case "reasoning":
        return this.#think(delta, passed);
      case "activity":
        return this.#act(delta, passed);
      case "response":
        passed.push(delta.native === undefined ? delta : this.#withoutChanged(delta));
        return;
      case "tool_call":
        // A new call ends the text before it. Fragments of a known call may be interleaved with text.
        if (delta.index > this.#calls) this.#flush(passed);
        this.#calls = Math.max(this.#calls, delta.index);
        passed.push(delta);
        return;
      default:
        passed.push(delta);
    }
  }

  /** Drops vendor fields: token probabilities, for example, would reveal the text that was masked. */
  #speak({ native: _, ...delta }: TextDelta | RefusalDelta, passed: Delta[]): void {
    const text = this.#filtered(delta.type, delta.text);
    const isSigned = "signature" in delta && delta.signature !== undefined;
    if (text !== "" || isSigned) passed.push({ ...delta, text });
  }

  #think({ native: _, signature, encrypted, ...delta }: ReasoningDelta, passed: Delta[]): void {
    if (delta.part !== this.#part) {
      this.#flushOf("reasoning", passed);
      [this.#part, this.#thought, this.#told] = [delta.part, "", ""];
    }
    this.#thought += delta.text;
    const isProven = signature !== undefined || encrypted !== undefined;
    const text = this.#filtered("reasoning", delta.text);
    // A signature covers the whole reasoning block, so the filter's remaining text is flushed first.
    const told = isProven ? text + (this.#filters.get("reasoning")?.flush() ?? "") : text;
    this.#told += told;
    // Keep the signature only if the text is unchanged; the vendor refuses one that does not match.
    const isSame = isProven && this.#told === this.#thought;
    const proof = {
      ...(signature === undefined || !isSame ? {} : { signature }),
      ...(encrypted === undefined || !isSame ? {} : { encrypted }),
    };
    if (told !== "" || delta.id !== undefined || isSame) passed.push({ ...delta, text: told, ...proof });
    if (isProven) [this.#thought, this.#told] = ["", ""];
  }

  #act(delta: ActivityDelta, passed: Delta[]): void {
    if (delta.kind === "fields") return;
    if (delta.kind !== "citation") this.#flush(passed);
    const data = this.#screened(delta.data);
    if (data === undefined) return;
    const { keep: _, ...changed } = delta;
    passed.push(data.same ? delta : { ...changed, data: data.value });
  }

  /** Leaves out vendor fields that the filter would change. */
  #withoutChanged<Said extends { readonly native?: unknown }>(delta: Said): Said | Omit<Said, "native"> {
    if (this.#screened(delta.native)?.same === true) return delta;
    const { native: _, ...rest } = delta;
    return rest;
  }

  /** Filters a complete value through its JSON text; undefined when the filter holds text back or the result is not JSON. */
  #screened(value: unknown): { readonly same: boolean; readonly value: unknown } | undefined {
    const text = JSON.stringify(value) ?? "null";
    const filter = this.#make("output");
    const passed = filter === undefined ? text : filter.push(text) + filter.flush();
    if (passed === text) return { same: true, value };
    try {
      return { same: false, value: JSON.parse(passed) };
    } catch {
      return undefined;
    }
  }

  #filtered(type: Spoken, text: string): string {
    if (text === "") return "";
    this.taken += text.length;
    let filter = this.#filters.get(type);
    if (filter === undefined) {
      filter = this.#make(type === "reasoning" ? "reasoning" : "output");
      if (filter === undefined) return text;
      this.#filters.set(type, filter);
    }
    return filter.push(text);
  }

  #flush(passed: Delta[]): void {
    for (const type of this.#filters.keys()) this.#flushOf(type, passed);
  }

  #flushOf(type: Spoken, passed: Delta[]): void {
    const text = this.#filters.get(type)?.flush() ?? "";
    if (type === "reasoning") this.#told += text;
    if (text !== "") passed.push({ type, text, ...(type === "reasoning" ? this.#ofPart() : {}) });
  }

  #ofPart(): { part?: number } {
    return this.#part === undefined ? {} : { part: this.#part };
  }
}
