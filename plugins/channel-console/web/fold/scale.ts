import type { TimeSegment as Segment } from "venturi/client/times";

/** Maps times to the view's width, 0 to 1. Waits that dwarf everything else are collapsed to a mark of fixed width. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly folds: readonly { readonly from: number; readonly to: number }[];
  x(at: number): number;
}

const foldWidth = 0.05;
const shortestFold = 20_000;

export function scaleOf(segments: readonly Segment[], from: number, to: number): Scale {
  const end = Math.max(to, from + 1);
  const long = foldsOf(segments, end - from);
  const foldable = long.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  // A run that only waited has nothing else to show.
  const folds = foldable < end - from - 1 ? long : [];
  const hidden = folds.length === 0 ? 0 : foldable;
  const shownTime = Math.max(1, end - from - hidden);
  const shownWidth = 1 - folds.length * foldWidth;
  const x = (at: number): number => {
    const time = Math.min(Math.max(at, from), end);
    let passed = time - from;
    let width = 0;
    for (const fold of folds) {
      if (time <= fold.from) break;
      const inside = Math.min(time, fold.to) - fold.from;
      passed -= inside;
      width += foldWidth * (inside / (fold.to - fold.from));
    }
    return width + shownWidth * (passed / shownTime);
  };
  return { from, to: end, folds, x };
}

/** Only waits for people and pauses are collapsed; models and tools stay in proportion. */
function foldsOf(segments: readonly Segment[], total: number): { from: number; to: number }[] {
  const waits = segments.filter(
    ({ part, from, to }) =>
      (part === "approval" || part === "backoff" || part === "runtime") && to - from > shortestFold,
  );
  const long = waits.filter(({ from, to }) => to - from > total / 2).slice(0, 4);
  return long.map(({ from, to }) => ({ from, to }));
}
