import type { RunEvent } from "../core/run/events.ts";
import { isAsked } from "../core/run/questions.ts";
import { type FoldedCall, RunFold } from "../core/run/run-fold.ts";
import { duration, type TextPrinter } from "./printer.ts";
import { block, noBlock, type Show } from "./screen.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const interval = 100;
/** A wait shorter than this, with nothing to show, gets no spinner, ms. */
const patience = 300;
/** Calls beyond this number are only counted. */
const mostLines = 8;
/** Characters kept of streaming arguments; a terminal shows no more. */
const kept = 500;

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
      calls.take(event, performance.now());
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
  readonly #fold = new RunFold();
  /** When the last event came, by this machine's clock. */
  #seen = 0;

  get size(): number {
    return this.#open.length;
  }

  take(event: RunEvent, now: number): void {
    this.#fold.take(event);
    this.#seen = now;
    if (event.type !== "tool_call.delta" && event.type !== "tool_call.ready") return;
    const call = this.#fold.calls.get(event.call);
    if (call === undefined) return;
    if (event.type === "tool_call.delta") call.argumentsText = (call.argumentsText + event.arguments).slice(-kept);
    else call.argumentsText = JSON.stringify(event.arguments).slice(0, kept);
  }

  get #open(): FoldedCall[] {
    const { calls = [], endedAt } = this.#fold.rounds.at(-1) ?? {};
    return endedAt === undefined ? calls.filter(isOpen) : [];
  }

  lines(spinner: string, now: number, columns: number): string[] {
    const open = this.#open;
    if (open.length === 0) return [spinner];
    const at = this.#fold.at + now - this.#seen;
    const shown = open.slice(0, mostLines).map(({ name, executed, sealed, readyAt, startedAt, argumentsText }) => {
      const state = executed !== undefined ? "running" : sealed !== undefined ? "waiting" : "writing";
      const ms = Math.max(0, at - (executed?.at ?? readyAt ?? startedAt));
      const start = `${spinner} ${name} ${state} ${duration(Math.floor(ms / 100) * 100)} `;
      return start + tail(argumentsText, columns - start.length - 1);
    });
    const more = open.length - shown.length;
    return more > 0 ? [...shown, `  and ${more} more`] : shown;
  }
}

/** A tool's question has an id like a call's, but is none. */
const isOpen = ({ endedAt, retracted, question }: FoldedCall): boolean =>
  endedAt === undefined && retracted === undefined && question?.asked.type !== "question.asked";

/** Shows the end, which is what changes. */
const tail = (text: string, room: number): string =>
  text.length <= room ? text : `…${text.slice(-Math.max(1, room - 1))}`;
