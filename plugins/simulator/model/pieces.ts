import type { Piece, WholeCall } from "../turn.ts";

/** Word by word, with trailing whitespace. */
export const wordPieces = (text: string): string[] => text.match(/\s*\S+\s*?(?=\s|$)|\s+$/gu) ?? [];

export const textPieces = (text: string): Piece[] => wordPieces(text).map((word) => ({ type: "text", text: word }));

export const reasoningPieces = (text: string): Piece[] =>
  wordPieces(text).map((word) => ({ type: "reasoning", text: word }));

/** A call with its arguments in fragments of `size` characters; the default is typical of real models. */
export function callPieces(call: WholeCall, size = 8): Piece[] {
  const pieces: Piece[] = [{ type: "call", index: call.index, id: call.id, name: call.name }];
  for (const text of fragmentsOf(call.text, size)) pieces.push({ type: "arguments", index: call.index, text });
  return pieces;
}

/** Never splits a surrogate pair: a lone half cannot be sent as JSON. */
export function fragmentsOf(text: string, size: number): string[] {
  const result: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + size);
    const code = text.charCodeAt(to - 1);
    if (code >= 0xd800 && code <= 0xdbff && to < text.length) to++;
    result.push(text.slice(from, to));
    from = to;
  }
  return result;
}
