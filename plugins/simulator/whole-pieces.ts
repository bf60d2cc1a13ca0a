import type { Piece, WholeCall } from "./turn.ts";

/** A piece for wires that only send complete calls. */
export type WholePiece = Exclude<Piece, { type: "call" | "arguments" }> | ({ readonly type: "call" } & WholeCall);

/** Each call takes the position of its last fragment. */
export function wholePieces(pieces: readonly Piece[]): WholePiece[] {
  const open = new Map<number, { id: string; name: string; texts: string[]; place: number }>();
  pieces.forEach((piece, place) => {
    if (piece.type === "call") open.set(piece.index, { id: piece.id, name: piece.name, texts: [], place });
    const call = piece.type === "arguments" ? open.get(piece.index) : undefined;
    if (call === undefined || piece.type !== "arguments") return;
    call.texts.push(piece.text);
    call.place = place;
  });
  const ends = new Map([...open].map(([index, call]) => [call.place, { index, call }]));
  return pieces.flatMap((piece, place): WholePiece[] => {
    if (piece.type !== "call" && piece.type !== "arguments") return [piece];
    const ended = ends.get(place);
    if (ended === undefined) return [];
    const { id, name, texts } = ended.call;
    return [{ type: "call", index: ended.index, id, name, text: texts.join("") }];
  });
}
