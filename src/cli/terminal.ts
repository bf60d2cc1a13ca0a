import { withLiveCalls } from "./live-calls.ts";
import { jsonPrinter, type Printer, TextPrinter } from "./printer.ts";
import { type Show, show, showJson, wantsColor } from "./screen.ts";

/** How a run is shown: JSON lines; live on a terminal; or in a pipe as plain text, with a line per step of a call. */
export function openPrinter(options: { readonly json: boolean; readonly quiet?: boolean }): Printer {
  if (options.json) return jsonPrinter((json) => showJson(process.stdout, json));
  const out: Show = (...texts) => show(process.stdout, ...texts);
  const words: Show = (...texts) => show(process.stderr, ...texts);
  const beside = options.quiet === true ? "nothing" : process.stderr.isTTY === true ? "live" : "lines";
  const printer = new TextPrinter({ out, words, color: wantsColor(process.stderr), beside });
  return beside === "live" ? withLiveCalls(printer, words, () => process.stderr.columns ?? 80) : printer;
}

/** Reads stdin to its end, for `venturi run AGENT -`. */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY === true) show(process.stderr, "type what to ask, then Ctrl-D:\n");
  process.stdin.setEncoding("utf8");
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  return text.trimEnd();
}
