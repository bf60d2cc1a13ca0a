import type { RunEvent } from "../core/events.ts";
import type { Printer } from "./printer.ts";
import { drawn, emptyLine, type Show } from "./screen.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Shorter waits show no spinner. */
const patience = 300;
/** Events without output, so the wait continues. */
const silent = new Set<RunEvent["type"]>([
  "run.started",
  "round.started",
  "tool_call.started",
  "tool_call.delta",
  "tool.started",
]);

/** Spins on a terminal while nothing is shown. Removed before anything is printed. */
export function withSpinner(printer: Printer, write: Show): Printer {
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;
  const wait = () => {
    timer ??= setInterval(() => write(drawn(`\r${frames[frame++ % frames.length]} `)), patience).unref();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    if (frame > 0) write(emptyLine);
    frame = 0;
  };
  return {
    print(event) {
      if (silent.has(event.type)) wait();
      else stop();
      printer.print(event);
      if (event.type === "tool.finished") wait();
    },
  };
}
