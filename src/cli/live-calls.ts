import type { RunEvent } from "../core/run/events.ts";
import { isAsked } from "../core/run/questions.ts";
import { duration, type TextPrinter } from "./printer.ts";
import { block, noBlock, type Show } from "./screen.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const interval = 100;
/** A wait shorter than this, with nothing to show, gets no spinner, ms. */
const patience = 300;
/** Calls beyond this number are only counted. */
const mostLines = 8;
/** Characters kept of streaming arguments; a terminal shows no more. */
const keptArguments = 500;

interface Call {
  readonly name: string;
  readonly state: "writing" | "waiting" | "running";
  readonly arguments: string;
  /** When it entered this state. */
  readonly since: number;
}

/**
 * Draws the calls in progress below the printed output: name, state, time and streaming arguments; or a spinner when there are none.
 * Removed before anything is printed, and while a person is asked.
 */
export function withLiveCalls(
  printer: Pick<TextPrinter, "print" | "isAtLineStart">,
  write: Show,
  columns: () => number,
): Pick<TextPrinter, "print"> {
  const calls = new LiveCalls();
  let drawn = 0;
  let frame = 0;
  let quietSince = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const erase = () => {
    if (drawn > 0) write(noBlock(drawn));
    drawn = 0;
  };
  const draw = () => {
    erase();
    const now = performance.now();
    if (!printer.isAtLineStart || (calls.size === 0 && now - quietSince < patience)) return;
    const lines = calls.lines(frames[frame++ % frames.length] ?? "", now, columns());
    write(block(lines));
    drawn = lines.length;
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    print(event) {
      const before = calls.size;
      calls.fold(event, performance.now());
      if (event.type !== "tool_call.delta") {
        erase();
        quietSince = performance.now();
        printer.print(event);
      }
      const pauses = isAsked(event) || event.type === "run.finished" || event.type === "run.failed";
      if (pauses) return stop();
      timer ??= setInterval(draw, interval).unref();
      if (event.type !== "tool_call.delta" && (before > 0 || calls.size > 0)) draw();
    },
  };
}

class LiveCalls {
  readonly #calls = new Map<string, Call>();

  get size(): number {
    return this.#calls.size;
  }

  fold(event: RunEvent, now: number): void {
    switch (event.type) {
      case "tool_call.started":
        this.#calls.set(event.call, { name: event.name, state: "writing", arguments: "", since: now });
        return;
      case "tool_call.delta":
        return this.#change(event.call, (call) => ({
          ...call,
          arguments: (call.arguments + event.arguments).slice(-keptArguments),
        }));
      case "tool_call.ready": {
        const text = JSON.stringify(event.arguments).slice(0, keptArguments);
        return this.#change(event.call, (call) => ({ ...call, state: "waiting", arguments: text, since: now }));
      }
      case "tool.started":
        return this.#change(event.call, (call) => ({ ...call, state: "running", since: now }));
      case "tool_call.rejected":
      case "tool.finished":
        this.#calls.delete(event.call);
        return;
      case "round.retracted":
      case "round.finished":
      case "run.finished":
      case "run.failed":
        this.#calls.clear();
        return;
      default:
        return;
    }
  }

  #change(id: string, change: (call: Call) => Call): void {
    const call = this.#calls.get(id);
    if (call !== undefined) this.#calls.set(id, change(call));
  }

  lines(spinner: string, now: number, columns: number): string[] {
    if (this.#calls.size === 0) return [spinner];
    const shown = [...this.#calls.values()].slice(0, mostLines).map((call) => {
      const start = `${spinner} ${call.name} ${call.state} ${duration(Math.floor((now - call.since) / 100) * 100)} `;
      return start + tail(call.arguments, columns - start.length - 1);
    });
    const more = this.#calls.size - shown.length;
    return more > 0 ? [...shown, `  and ${more} more`] : shown;
  }
}

/** Shows the end, which is what changes. */
const tail = (text: string, room: number): string =>
  text.length <= room ? text : `…${text.slice(-Math.max(1, room - 1))}`;
