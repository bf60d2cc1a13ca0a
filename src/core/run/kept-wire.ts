/** Raw provider bytes of one attempt at a round. */
export interface KeptWire {
  readonly round: number;
  readonly attempt: number;
  readonly wire: string;
  readonly bytes: Uint8Array;
}

/** Concatenates the chunks given to `keepWire` into one stream per attempt. */
export function joinWires(pieces: readonly KeptWire[]): KeptWire[] {
  const attempts = new Map<string, KeptWire[]>();
  for (const piece of pieces) {
    const key = `${piece.round} ${piece.attempt} ${piece.wire}`;
    const known = attempts.get(key);
    if (known === undefined) attempts.set(key, [piece]);
    else known.push(piece);
  }
  return [...attempts.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined || all.length === 1) return all;
    return [{ ...first, bytes: Buffer.concat(all.map(({ bytes }) => bytes)) }];
  });
}
