import { forOneLine, forTerminal, jsonForTerminal } from "../core/terminal-text.ts";

/** Text with escape sequences of ours. Only this file makes it, so nobody else's can be among them. */
export class Styled {
  readonly ansi: string;
  constructor(ansi: string) {
    this.ansi = ansi;
  }
}

export type Shown = string | Styled;
export type Show = (...parts: readonly Shown[]) => void;

const styles = { bold: 1, dim: 2, inverse: 7, red: 31, green: 32, yellow: 33 } as const;
export type Style = keyof typeof styles;

/**
 * The one way to a terminal: whatever is not styled here is cleaned, wherever it came from. Also in pipes, which end at a
 * terminal more often than not; programs read `--json`, which is exact.
 */
export const show = (stream: NodeJS.WritableStream, ...parts: readonly Shown[]): void =>
  void stream.write(parts.map(ansiOf).join(""));

/** A line of JSON for programs. */
export const showJson = (stream: NodeJS.WritableStream, json: string): void =>
  void stream.write(`${jsonForTerminal(json)}\n`);

/** A file's content: exact in a pipe or a file, cleaned on a terminal. */
export const showData = (stream: NodeJS.WritableStream & { isTTY?: boolean }, text: string): void =>
  void stream.write(stream.isTTY === true ? forTerminal(text) : text);

export const styled = (style: Style, text: string): Styled =>
  new Styled(`\u001b[${styles[style]}m${forTerminal(text)}\u001b[0m`);

/** A drawing of ours, whose labels its maker cleaned. */
export const drawn = (ansi: string): Styled => new Styled(ansi);

/** To the line's beginning, with nothing on it. */
export const emptyLine = new Styled("\r\u001b[K");

/** What came before does not reach into what follows: colours off, text visible. */
export const reset = new Styled("\u001b[0m");

export const ansiOf = (part: Shown): string => (part instanceof Styled ? part.ansi : forTerminal(part));

export { forOneLine };

/** Colours on a terminal, unless NO_COLOR says otherwise. */
export const wantsColor = (stream: { isTTY?: boolean }): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
