/** One answer of the simulator, independent of the wire. */
export interface Turn {
  readonly pieces: readonly Piece[];
  readonly finish: Finish;
  /** Absent: counted from the prompt and the pieces; null: not reported. */
  readonly usage?: TurnUsage | null;
  /** Milliseconds between pieces; absent: the server's default. */
  readonly pace?: number;
  /** Faults of this turn, in the header's grammar. */
  readonly faults?: readonly string[];
  /** An HTTP error in place of an answer. */
  readonly failure?: Failure;
}

export type Finish = "stop" | "tool_calls" | "length" | "content_filter" | "refusal";

/** One piece becomes one content frame, except on wires that only send complete calls. */
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

/** A call with assembled arguments, for wires and answers that only have complete calls. */
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

/** Arguments for a wire that sends objects; invalid JSON goes out as text. */
export function argumentsValue(text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
