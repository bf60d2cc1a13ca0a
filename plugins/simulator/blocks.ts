import type { Piece } from "./turn.ts";

/** A part of an answer that some wires open and close explicitly: a text, a thought, a refusal, a call. */
export interface Block {
  readonly position: number;
  readonly kind: "text" | "reasoning" | "refusal" | "call";
  readonly id: string;
  readonly name: string;
  /** Complete once the block is closed. */
  text: string;
}

export interface Step {
  readonly type: "open" | "delta" | "close";
  readonly block: Block;
  readonly text: string;
}

/** The pieces as open, delta and close steps. Calls may be open concurrently; everything else is sequential. */
export function blockSteps(pieces: readonly Piece[]): Step[] {
  const steps: Step[] = [];
  const last = lastPieces(pieces);
  const calls = new Map<number, Block>();
  let count = 0;
  let current: Block | undefined;
  const open = (kind: Block["kind"], id = "", name = ""): Block => {
    const block: Block = { position: count++, kind, id, name, text: "" };
    steps.push({ type: "open", block, text: "" });
    return block;
  };
  const delta = (block: Block, text: string) => {
    block.text += text;
    steps.push({ type: "delta", block, text });
  };
  const close = (block: Block) => steps.push({ type: "close", block, text: "" });
  pieces.forEach((piece, place) => {
    if (current !== undefined && current.kind !== piece.type) {
      close(current);
      current = undefined;
    }
    if (piece.type === "call" || piece.type === "arguments") {
      const block = calls.get(piece.index) ?? open("call", ...(piece.type === "call" ? [piece.id, piece.name] : []));
      calls.set(piece.index, block);
      if (piece.type === "arguments") delta(block, piece.text);
      if (last.get(piece.index) === place) close(block);
      return;
    }
    current ??= open(piece.type);
    delta(current, piece.text);
  });
  if (current !== undefined) close(current);
  return steps;
}

/** Position of each call's last piece, where it is closed. */
function lastPieces(pieces: readonly Piece[]): Map<number, number> {
  const last = new Map<number, number>();
  pieces.forEach((piece, position) => {
    if (piece.type === "call" || piece.type === "arguments") last.set(piece.index, position);
  });
  return last;
}
