export interface HexLine {
  readonly place: string;
  readonly hex: string;
  readonly text: string;
}

/** Formats bytes like `hexdump -C`: sixteen per line, or as many as fit. */
export function hexLines(bytes: Uint8Array, offset: number, width = 16): HexLine[] {
  const lines: HexLine[] = [];
  for (let from = 0; from < bytes.length; from += width) {
    const row = [...bytes.subarray(from, from + width)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push({ place: (offset + from).toString(16).padStart(6, "0"), hex: hex.padEnd(width * 3 - 1), text });
  }
  return lines;
}
