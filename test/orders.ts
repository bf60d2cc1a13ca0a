import { Random } from "./chaos/random.ts";

/** Interleavings of sequences, each of which keeps its own order: all of them, or where there are more, `most` drawn by the seed. */
export function orders<T>(sequences: readonly (readonly T[])[], { most, seed }: { most: number; seed: number }): T[][] {
  const all = every(sequences, most + 1);
  if (all.length <= most) return all;
  const random = new Random(seed);
  return [inTurn(sequences), ...Array.from({ length: most - 1 }, () => drawn(sequences, random))];
}

/** All of them, but no more than `most`. */
function every<T>(sequences: readonly (readonly T[])[], most: number): T[][] {
  if (sequences.every(({ length }) => length === 0)) return [[]];
  const found: T[][] = [];
  for (const [which, [first]] of sequences.entries()) {
    if (first === undefined) continue;
    const rest = sequences.map((sequence, at) => (at === which ? sequence.slice(1) : sequence));
    for (const order of every(rest, most - found.length)) found.push([first, ...order]);
    if (found.length >= most) break;
  }
  return found;
}

function inTurn<T>(sequences: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...sequences.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => sequences.flatMap((sequence) => sequence.slice(at, at + 1))).flat();
}

/** Each interleaving is equally likely: the next element comes from a sequence with the probability of its rest. */
function drawn<T>(sequences: readonly (readonly T[])[], random: Random): T[] {
  const left = sequences.map((sequence) => [...sequence]);
  const order: T[] = [];
  for (let rest = left.flat().length; rest > 0; rest--) {
    let at = random.between(0, rest - 1);
    const next = left.find((sequence) => {
      at -= sequence.length;
      return at < 0;
    });
    order.push(...(next?.splice(0, 1) ?? []));
  }
  return order;
}
