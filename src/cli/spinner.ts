import type { RunEvent } from "../core/events.ts";
import type { Printer } from "./printer.ts";
import { drawn, emptyLine, type Show } from "./screen.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** A wait shorter than this is not worth a sign. */
const patience = 300;
/** Events that show nothing, so the wait goes on. */
const silent = new Set<RunEvent["type"]>([
  "run.started",
  "round.started",
  "tool_call.started",
  "tool_call.delta",
  "tool.started",
]);

/** Turns on a terminal while nothing is to be seen. It is gone before anything is printed. */
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
