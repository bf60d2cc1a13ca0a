import type { Call, RunView } from "./view.ts";

/** A call of one run next to its counterpart in the other. */
export interface Pair {
  readonly a: Call | undefined;
  readonly b: Call | undefined;
}

export interface RoundPair {
  readonly round: number;
  readonly a: string;
  readonly b: string;
  readonly calls: readonly Pair[];
}

/** Aligns two runs by round, and calls by name and order within it. */
export function alignRounds(a: RunView, b: RunView): RoundPair[] {
  const count = Math.max(a.rounds.length, b.rounds.length);
  return Array.from({ length: count }, (_, index) => {
    const [left, right] = [a.rounds[index], b.rounds[index]];
    return {
      round: left?.round ?? right?.round ?? index + 1,
      a: textOfRound(a, left?.round),
      b: textOfRound(b, right?.round),
      calls: alignCalls(left?.calls ?? [], right?.calls ?? []),
    };
  });
}

function alignCalls(left: readonly Call[], right: readonly Call[]): Pair[] {
  const rest = [...right];
  const pairs: Pair[] = left.map((a) => {
    const at = rest.findIndex(({ name }) => name === a.name);
    return { a, b: at < 0 ? undefined : rest.splice(at, 1)[0] };
  });
  return [...pairs, ...rest.map((b) => ({ a: undefined, b }))];
}

/** A round's text that was not retracted. */
function textOfRound(view: RunView, round: number | undefined): string {
  let text = "";
  for (const item of view.items) {
    if (item.kind === "text" && item.round === round && item.retracted === undefined) text += item.text;
  }
  return text;
}
