/** No known name is longer. */
const longest = 200;

/** ` (did you mean "timeout"?)`, or empty when no candidate is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  if (word.length > longest) return "";
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best === undefined ? "" : ` (did you mean "${best}"?)`;
}

/** Edit distance; a transposition counts as one. */
function distance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 8) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    before = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
