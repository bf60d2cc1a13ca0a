import { jsonPrinter, type Printer, TextPrinter } from "./printer.ts";
import { type Show, show, showJson, wantsColor } from "./screen.ts";
import { withSpinner } from "./spinner.ts";

/** How a run is shown: JSON lines, or text without styling in a pipe. */
export function openPrinter(options: { readonly json: boolean; readonly quiet?: boolean }): Printer {
  if (options.json) return jsonPrinter((json) => showJson(process.stdout, json));
  const out: Show = (...parts) => show(process.stdout, ...parts);
  const words: Show = (...parts) => show(process.stderr, ...parts);
  const verbose = options.quiet !== true && process.stderr.isTTY === true;
  const printer = new TextPrinter({ out, words, color: wantsColor(process.stderr), verbose });
  return verbose && process.stdout.isTTY === true ? withSpinner(printer, words) : printer;
}

/** Reads stdin to its end, for `venturi run AGENT -`. */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY === true) show(process.stderr, "type what to ask, then Ctrl-D:\n");
  process.stdin.setEncoding("utf8");
  let text = "";
  for await (const part of process.stdin) text += part;
  return text.trimEnd();
}
