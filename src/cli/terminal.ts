import { jsonPrinter, type Printer, TextPrinter } from "./printer.ts";
import { withSpinner } from "./spinner.ts";

/** Colours on a terminal, unless NO_COLOR says otherwise. */
export const wantsColor = (stream: { isTTY?: boolean }): boolean =>
  stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";

/** How a run is shown: JSON lines, or text that is plain in a pipe. */
export function openPrinter(options: { readonly json: boolean; readonly quiet?: boolean }): Printer {
  const out = (text: string) => void process.stdout.write(text);
  if (options.json) return jsonPrinter(out);
  const words = (text: string) => void process.stderr.write(text);
  const verbose = options.quiet !== true && process.stderr.isTTY === true;
  const printer = new TextPrinter({ out, words, color: wantsColor(process.stderr), verbose });
  return verbose && process.stdout.isTTY === true ? withSpinner(printer, words) : printer;
}

/** Standard input to its end, for `venturi run AGENT -`. */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY === true) process.stderr.write("type what to ask, then Ctrl-D:\n");
  process.stdin.setEncoding("utf8");
  let text = "";
  for await (const part of process.stdin) text += part;
  return text.trimEnd();
}
