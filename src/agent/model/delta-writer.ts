import type {
  Delta,
  DoneDelta,
  ReasoningDelta,
  RefusalDelta,
  TextDelta,
  ToolCallDelta,
} from "../../core/model/deltas.ts";
import type { NativeAnswer } from "../../core/model/native.ts";
import type { StreamObserver } from "../../core/model/provider.ts";
import { mergeUsage, type Usage } from "../../core/model/usage.ts";
import type { EventOf } from "../../core/run/events.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { Accumulator, type OpenCall } from "../../provider/accumulate.ts";
import { OutputCap, perEvent } from "../run/output-cap.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallSink } from "../state/call-sink.ts";
import { nameless, type ToolTable } from "../tools/tool-table.ts";
import { FilteredDeltas } from "./filtered-deltas.ts";
import { LoneDeltas } from "./lone-deltas.ts";
import { laidOver, storable } from "./native-answer.ts";
import { screened } from "./screened-call.ts";
import { writeSealed } from "./sealed-call.ts";
import { changedArguments, truncated } from "./stream-errors.ts";

/** Turns the deltas of one generation into events. Adjacent fragments of one kind from one network read become one event. */
export class DeltaWriter {
  usage: Usage | undefined;
  done: DoneDelta | undefined;
  responseId: string | undefined;
  responseModel: string | undefined;
  /** The usage object exactly as the vendor sent it. */
  native: NativeAnswer | undefined;
  /** Some output of this generation has reached clients. */
  shown = false;
  outputCharacters = 0;
  readonly #run: RunContext;
  readonly #round: number;
  readonly #tools: ToolTable;
  readonly #sink: CallSink;
  readonly #accumulator: Accumulator;
  readonly #cap: OutputCap;
  readonly #lone: LoneDeltas;
  readonly #filtered: FilteredDeltas | undefined;
  /** A hook inspects calls: they are shown only when complete, as the hooks leave them. */
  readonly #screens: boolean;
  /** Event call ids of open calls, by index. */
  readonly #ids: string[] = [];
  /** Number of argument characters already written as events, by call index. */
  readonly #told: number[] = [];
  #kind: "text" | "reasoning" | "refusal" | undefined;
  /** Joined once: repeated appending builds a rope that any holder of the event would keep alive. */
  #pieces: string[] = none;
  #part: number | undefined;
  #callIndex = -1;

  constructor(run: RunContext, round: number, tools: ToolTable, sink: CallSink, observer: StreamObserver | undefined) {
    this.#run = run;
    this.#round = round;
    this.#tools = tools;
    this.#sink = sink;
    const { watch } = run.deps;
    this.#accumulator = new Accumulator({ run: `${round}`, observer: watch?.counting(observer) ?? observer });
    this.#cap = new OutputCap(run);
    this.#lone = new LoneDeltas(run, round, this.#cap);
    this.#filtered = FilteredDeltas.of(run.hooks, round, (error) => run.abort(error));
    this.#screens = run.hooks.screensCalls;
    keepOne(this);
  }

  /** Takes the deltas of one network read. Throws errors reported by the provider. */
  push(batch: readonly Delta[]): void {
    for (const delta of this.#filtered === undefined ? batch : this.#filtered.apply(batch)) this.#take(delta);
    this.#flush();
    if (this.#filtered !== undefined && this.#filtered.taken > this.#cap.most) this.#cap.exceeded();
    // Compared once per network read, not per delta.
    if (this.#cap.size > this.#cap.most) this.#cap.exceeded();
    if (this.outputCharacters > this.#run.answerCharacters) this.#cap.outOfTokens();
  }

  /** End of input, whatever the reason. */
  close(): void {
    this.#cap.close();
  }

  /** Writes what filters held back; undefined when there is no filter. */
  writeHeld(): Promise<void> | undefined {
    return this.#filtered?.end().then((rest) => {
      for (const delta of rest) this.#take(delta);
      this.#flush();
    });
  }

  /** End of stream: seals open calls; throws when the format's terminator is missing. */
  finish(): DoneDelta {
    const done = this.done;
    if (done === undefined) throw truncated();
    for (const call of this.#accumulator.finish(done.finish)) this.#seal(call);
    return done;
  }

  get calls(): number {
    return this.#accumulator.open.length;
  }

  #take(delta: Delta): void {
    switch (delta.type) {
      case "text":
        if (delta.signature !== undefined || delta.native !== undefined) return this.#alone(delta);
        return this.#append("text", delta.text);
      case "refusal":
        if (delta.native !== undefined) return this.#alone(delta);
        return this.#append("refusal", delta.text);
      case "reasoning":
        return this.#reason(delta);
      case "tool_call":
        return this.#call(delta);
      case "usage":
        this.usage = mergeUsage(this.usage, delta.usage);
        if (delta.native !== undefined)
          this.native = laidOver(this.native, storable(delta.native, this.#cap, this.#run));
        return;
      case "response":
        this.responseId = delta.id ?? this.responseId;
        this.responseModel = delta.model ?? this.responseModel;
        if (delta.native !== undefined) this.#tell("response", delta.native);
        return;
      case "activity":
        if (delta.kind === "fields")
          return this.#tell("fields", { wire: delta.wire, fields: { ...Object(delta.data) } });
        this.#flush();
        this.shown = true;
        this.#lone.activity(delta);
        return;
      case "done":
        this.done ??= delta;
        return;
      case "error":
        this.#flush();
        throw delta.error;
    }
  }

  #append(kind: "text" | "refusal", text: string): void {
    if (text === "") return;
    if (this.#kind !== kind) this.#flush();
    this.#kind = kind;
    this.#add(text);
  }

  /** Writes signed text, or text with vendor fields, as one event of its own. */
  #alone(delta: TextDelta | RefusalDelta): void {
    this.#flush();
    this.shown = true;
    this.outputCharacters += delta.text.length;
    this.#lone.text(delta);
  }

  /** Vendor fields do not count as shown output, so a model that fails after them can still be replaced. */
  #tell(kind: "response" | "fields", native: NativeAnswer): void {
    this.#flush();
    if (kind === "fields") this.shown = true;
    this.#lone.fields(kind, native);
  }

  #reason(delta: ReasoningDelta): void {
    const plain =
      delta.signature === undefined &&
      delta.encrypted === undefined &&
      delta.id === undefined &&
      delta.native === undefined;
    if (this.#kind !== "reasoning" || this.#part !== delta.part) this.#flush();
    this.#part = delta.part;
    if (plain) {
      if (delta.text === "") return;
      this.#kind = "reasoning";
      this.#add(delta.text);
      return;
    }
    this.#flush();
    this.shown = true;
    this.outputCharacters += delta.text.length;
    this.#lone.reasoning(delta);
  }

  #call(delta: ToolCallDelta): void {
    if (this.#kind !== undefined || this.#callIndex !== delta.index) this.#flush();
    const before = this.#accumulator.open[delta.index]?.text.length ?? 0;
    const { call, opened, sealed, contradicted } = this.#accumulator.push(delta);
    if (contradicted) throw changedArguments(call.name);
    // Counted as it arrives: text that is not written yet is held in memory.
    if (call.text.length > before) this.#cap.size += call.text.length - before;
    if (opened) this.#open(call, delta.native);
    // Arguments that arrive before the name are held by the accumulator until it does.
    if (call.name !== "" && !this.#screens) this.#extend(call, call.settled, delta.arguments);
    if (sealed) this.#seal(call);
  }

  /** Writes the arguments up to `end`. Pieces always add up to a prefix of the arguments the call is sealed with. */
  #extend(call: OpenCall, end: number, piece = ""): void {
    const from = this.#told[call.index] ?? 0;
    if (end <= from) return;
    this.#told[call.index] = end;
    this.#callIndex = call.index;
    // Passes the fragment on when it is all that is new: slicing the growing text would copy it once per fragment.
    this.#add(end - from === piece.length ? piece : call.text.slice(from, end));
  }

  #open(call: OpenCall, native?: NativeAnswer): void {
    this.shown = true;
    const id = this.#idOf(call);
    this.#cap.size += perEvent + call.name.length + id.length;
    this.#run.emit({
      type: "tool_call.started",
      round: this.#round,
      call: id,
      name: this.#nameOf(call),
      index: call.index,
      ...(this.#tools.isClient(call.name) ? { client: true } : {}),
      ...(native === undefined || this.#screens ? {} : { native: storable(native, this.#cap, this.#run) }),
    });
  }

  /** Vendors repeat ids across turns; call ids must be unique within a run. */
  #idOf(call: OpenCall): string {
    let id = this.#ids[call.index];
    if (id === undefined) {
      id = call.id;
      for (let copy = 2; this.#run.state.callIds.has(id); copy++) id = `${call.id}_${copy}`;
      this.#ids[call.index] = id;
    }
    return id;
  }

  #nameOf(call: OpenCall): string {
    return call.name === "" ? nameless : this.#tools.nameOf(call.name);
  }

  #seal(call: OpenCall): void {
    const name = this.#nameOf(call);
    if (call.name === "") this.#open(call);
    if (this.#callIndex !== call.index) this.#flush();
    const id = this.#idOf(call);
    const { text: written, result } = this.#screens
      ? screened(this.#run, { call, id, name, round: this.#round })
      : { text: call.text, result: call.result() };
    if (this.#screens) {
      this.#callIndex = call.index;
      this.#add(written);
    } else this.#extend(call, written.length);
    this.#flush();
    const sealing = { call, id, name, round: this.#round, written, result };
    writeSealed(this.#run, sealing, { tools: this.#tools, sink: this.#sink });
  }

  #flush(): void {
    const index = this.#callIndex;
    const call = index < 0 ? undefined : this.#ids[index];
    if (index < 0 ? this.#kind === undefined : call === undefined) return;
    const pieces = this.#pieces;
    this.#pieces = none;
    const text = pieces.length === 1 ? (pieces[0] ?? "") : pieces.join("");
    this.#callIndex = -1;
    if (call !== undefined && text === "") return;
    this.outputCharacters += text.length;
    this.#cap.size += perEvent + (call === undefined ? text.length : 0);
    if (call !== undefined) {
      this.#run.emit({ type: "tool_call.delta", round: this.#round, call, arguments: text });
      return;
    }
    this.shown = true;
    if (this.#kind === "text") {
      // Declares the fields that the run log fills in later: fields added after construction would be stored out of line by V8.
      const event: EventOf<"text.delta"> = { type: "text.delta", round: this.#round, text, run: "", at: 0, seq: 0 };
      this.#run.emit(event);
    } else if (this.#kind === "refusal") this.#run.emit({ type: "refusal.delta", round: this.#round, text });
    else if (this.#part === undefined) this.#run.emit({ type: "reasoning.delta", round: this.#round, text });
    else this.#run.emit({ type: "reasoning.delta", round: this.#round, text, part: this.#part });
    this.#kind = undefined;
  }

  #add(piece: string): void {
    // A literal reserves one slot, a push to an empty array seventeen; most reads bring one piece.
    if (this.#pieces.length === 0) this.#pieces = [piece];
    else this.#pieces.push(piece);
  }
}

/** Shared empty array; never pushed to. */
const none: string[] = [];
