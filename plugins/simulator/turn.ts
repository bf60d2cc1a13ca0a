/** What the simulator says in one answer, whatever wire it goes out on. */
export interface Turn {
  readonly pieces: readonly Piece[];
  readonly finish: Finish;
  /** Absent = counted from the prompt and the pieces; null = not reported at all. */
  readonly usage?: TurnUsage | null;
  /** Milliseconds between pieces; absent = the server's own. */
  readonly pace?: number;
  /** Faults that this turn brings with it, in the header's grammar. */
  readonly faults?: readonly string[];
  /** An HTTP error in place of an answer. */
  readonly failure?: Failure;
}

export type Finish = "stop" | "tool_calls" | "length" | "content_filter" | "refusal";

/** One piece becomes one content-bearing frame of the wire, except where the wire only knows whole calls. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "refusal"; readonly text: string }
  | { readonly type: "call"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "arguments"; readonly index: number; readonly text: string };

export interface TurnUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly reasoningTokens?: number;
}

export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call with its arguments put together, for wires and answers that only know whole calls. */
export interface WholeCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export function wholeCalls(pieces: readonly Piece[]): WholeCall[] {
  const calls = new Map<number, { id: string; name: string; texts: string[] }>();
  for (const piece of pieces) {
    if (piece.type === "call") calls.set(piece.index, { id: piece.id, name: piece.name, texts: [] });
    if (piece.type === "arguments") calls.get(piece.index)?.texts.push(piece.text);
  }
  return [...calls].map(([index, { id, name, texts }]) => ({ index, id, name, text: texts.join("") }));
}

export function joined(pieces: readonly Piece[], type: "text" | "reasoning" | "refusal"): string {
  return pieces.map((piece) => (piece.type === type ? piece.text : "")).join("");
}

/** The arguments as a wire with objects sends them; text that is no JSON goes out as it is. */
export function argumentsValue(text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
