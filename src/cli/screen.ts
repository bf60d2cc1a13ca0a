import { forOneLine, forTerminal, jsonForTerminal } from "../core/values/terminal-text.ts";

/** Text with our own escape sequences. Only this file creates it, so it contains no foreign ones. */
export class Styled {
  readonly ansi: string;
  constructor(ansi: string) {
    this.ansi = ansi;
  }
}

export type Shown = string | Styled;
export type Show = (...texts: readonly Shown[]) => void;

const styles = { bold: 1, dim: 2, inverse: 7, red: 31, green: 32, yellow: 33 } as const;
export type Style = keyof typeof styles;

/**
 * The only path to a terminal: unstyled text is sanitised, wherever it came from. In pipes too, since they often end at a
 * terminal; programs use `--json`, which is exact.
 */
export const show = (stream: NodeJS.WritableStream, ...texts: readonly Shown[]): void =>
  void stream.write(texts.map(ansiOf).join(""));

/** USD, with enough digits for small amounts; `?` if unknown. */
export function dollars(usd: number | undefined): string {
  if (usd === undefined) return "?";
  return usd === 0 || usd >= 1 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(Math.min(9, 1 - Math.floor(Math.log10(usd))))}`;
}

/** A line of JSON for programs. */
export const showJson = (stream: NodeJS.WritableStream, json: string): void =>
  void stream.write(`${jsonForTerminal(json)}\n`);

/** File contents: exact in a pipe or file, sanitised on a terminal. */
export const showData = (stream: NodeJS.WritableStream & { isTTY?: boolean }, text: string): void =>
  void stream.write(stream.isTTY === true ? forTerminal(text) : text);

export const styled = (style: Style, text: string): Styled =>
  new Styled(`\u001b[${styles[style]}m${forTerminal(text)}\u001b[0m`);

/** Our own drawing, whose labels have been sanitised. */
export const drawn = (ansi: string): Styled => new Styled(ansi);

/** Lines drawn below the last whole one, each cut at the terminal's edge (DECAWM off), with the cursor left behind the last. */
export const block = (lines: readonly string[]): Styled =>
  new Styled(`\u001b[?7l${lines.map(forOneLine).join("\n")}\u001b[?7h`);

/** Removes a block of so many lines. */
export const noBlock = (lines: number): Styled => new Styled(`\r${lines > 1 ? `\u001b[${lines - 1}A` : ""}\u001b[J`);

/** Keeps earlier output from affecting what follows: colours off, text visible. */
export const reset = new Styled("\u001b[0m");

export const ansiOf = (text: Shown): string => (text instanceof Styled ? text.ansi : forTerminal(text));

export { forOneLine };

/** Colours on a terminal, unless NO_COLOR is set. */
export const wantsColor = (stream: { isTTY?: boolean }): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
