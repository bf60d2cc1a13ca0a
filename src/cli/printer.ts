import { costOfAll } from "../core/run/costs.ts";
import { encodeEvent } from "../core/run/encode-event.ts";
import type { EventOf, RunEvent } from "../core/run/events.ts";
import { dollars, forOneLine, type Show, type Shown, type Style, styled } from "./screen.ts";

export interface Printer {
  print(event: RunEvent): void;
}

/** One JSON line per event, for programs. */
export const jsonPrinter = (write: (json: string) => void): Printer => ({
  print: (event) => write(encodeEvent(event)),
});

export interface Streams {
  /** The agent's answer (stdout). */
  readonly out: Show;
  /** Activity and timings (stderr). */
  readonly words: Show;
  readonly color: boolean;
  /**
   * What is shown next to the answer: nothing; a line per step of a call and for the end, as in a pipe; or reasoning, finished calls and
   * the end, with calls in progress drawn by `withLiveCalls`.
   */
  readonly beside: "nothing" | "lines" | "live";
}

/** A run as it happens, for people: the answer on stdout, tools and timings on stderr. */
export class TextPrinter implements Printer {
  readonly #streams: Streams;
  readonly #arguments = new Map<string, string>();
  /** The incomplete last line of each tool's progress. */
  readonly #outputs = new Map<string, string>();
  /** What is on the cursor's line: nothing, the answer, or reasoning. */
  #line: "start" | "answer" | "reasoning" = "start";
  /** A failed generation that may turn out to end the run. */
  #unsaid: string | undefined;

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** Whether something may be drawn on the line the cursor is on. */
  get isAtLineStart(): boolean {
    return this.#line === "start";
  }

  print(event: RunEvent): void {
    switch (event.type) {
      case "round.started":
        this.#sayLast();
        return this.#endLine();
      case "text.delta":
        if (this.#line === "reasoning") this.#endLine();
        this.#streams.out(event.text);
        this.#line = event.text.endsWith("\n") ? "start" : "answer";
        return;
      case "reasoning.delta":
        return this.#reasoning(event.text);
      case "tool_call.started":
        return this.#step(event, "called");
      case "tool_call.ready":
        this.#arguments.set(event.call, brief(JSON.stringify(event.arguments)));
        return this.#step(event, `arguments ${this.#arguments.get(event.call)}`);
      case "tool.started":
        return this.#step(event, event.attempt > 1 ? `started, attempt ${event.attempt}` : "started");
      case "approval.requested":
        return this.#step(event, "waits for approval");
      case "question.asked":
        return this.#step(event, `asks: ${brief(event.message)}`);
      case "tool_call.rejected":
        return this.#note(this.#red("✗"), ` ${brief(event.name)} `, this.#dim(brief(event.error.err)));
      case "tool.output":
        return this.#output(event);
      case "generation.failed":
        return this.#failed(event);
      case "tool.finished":
        return this.#tool(event);
      case "round.retracted":
        return this.#note(this.#dim(`↩ taken back: ${brief(event.reason)}`));
      case "run.finished":
        return this.#finish(event);
      case "run.failed":
        this.#endLine();
        this.#streams.words(
          this.#red(event.error.code),
          `: ${oneLine(event.error.err)} `,
          this.#dim(`(${brief(event.error.op)})`),
          "\n",
        );
        return;
      default:
        return;
    }
  }

  /** Prints a step of a call in progress. On a terminal it is drawn below the last line instead. */
  #step({ name, call }: { readonly name: string; readonly call: string }, what: string): void {
    if (this.#streams.beside === "lines") this.#note(`${brief(name)} `, this.#dim(brief(call)), `: ${what}`);
    else if (this.#streams.beside === "live") this.#endLine();
  }

  #reasoning(text: string): void {
    if (this.#streams.beside !== "live" || text === "") return;
    if (this.#line === "answer") this.#endLine();
    this.#streams.words(this.#dim(text));
    this.#line = "reasoning";
  }

  /** Progress arrives in arbitrary pieces; it is shown line by line. */
  #output({ call, text }: EventOf<"tool.output">): void {
    const lines = ((this.#outputs.get(call) ?? "") + text).split("\n");
    this.#outputs.set(call, lines.pop() ?? "");
    for (const line of lines) if (line.trim() !== "") this.#note(this.#dim(`  ${brief(line)}`));
  }

  /** If it is not retried, the run's end reports it, unless another model follows. */
  #failed({ model, error, retryMs }: EventOf<"generation.failed">): void {
    const words = `↻ ${error.err.startsWith(model) ? "" : `${brief(model)}: `}${brief(error.err)}`;
    if (retryMs === undefined) this.#unsaid = words;
    else this.#note(this.#dim(`${words}; again in ${duration(retryMs)}`));
  }

  #sayLast(): void {
    if (this.#unsaid !== undefined) this.#note(this.#dim(this.#unsaid));
    this.#unsaid = undefined;
  }

  #tool({ call, name, ok, output, error, ms }: EventOf<"tool.finished">): void {
    const rest = this.#outputs.get(call) ?? "";
    if (rest.trim() !== "" && !brief(output ?? "").endsWith(brief(rest))) this.#note(this.#dim(`  ${brief(rest)}`));
    this.#outputs.delete(call);
    const mark = ok ? this.#green("⚙") : this.#red("✗");
    const result = ok ? (output ?? "") : (error?.err ?? output ?? "failed");
    const asked = this.#arguments.get(call) ?? "";
    const texts = [mark, ` ${brief(name)} `, this.#dim(asked), ` → ${brief(result)} `, this.#dim(`(${duration(ms)})`)];
    this.#note(...texts);
  }

  #finish(event: EventOf<"run.finished">): void {
    const { calls, usage, rounds, timing, finish, run } = event;
    this.#endLine();
    for (const { name, arguments: input } of calls ?? [])
      this.#note(`${brief(name)} ${oneLine(JSON.stringify(input))}`);
    if (finish === "length") this.#note(this.#red("the answer was cut: the model reached its token limit"));
    const total = Object.values(timing).reduce((sum, ms) => sum + ms, 0);
    const cached = usage.cacheReadTokens ? ` (${usage.cacheReadTokens} cached)` : "";
    const tokens = `${usage.inputTokens ?? "?"}${cached} → ${usage.outputTokens ?? "?"} tokens`;
    const texts = [duration(total), `model ${duration(timing.providerWait + timing.providerStream)}`];
    if (timing.tool > 0) texts.push(`tools ${duration(timing.tool)}`);
    texts.push(`${rounds} ${rounds === 1 ? "round" : "rounds"}`, tokens);
    const cost = costOfAll(event);
    if (cost !== undefined) texts.push(dollars(cost));
    texts.push(run);
    this.#note(this.#dim(texts.join(" · ")));
  }

  #note(...texts: readonly Shown[]): void {
    if (this.#streams.beside === "nothing") return;
    this.#endLine();
    this.#streams.words(...texts, "\n");
  }

  #endLine(): void {
    if (this.#line === "answer") this.#streams.out("\n");
    if (this.#line === "reasoning") this.#streams.words("\n");
    this.#line = "start";
  }

  #dim = (text: string): Shown => this.#paint("dim", text);
  #red = (text: string): Shown => this.#paint("red", text);
  #green = (text: string): Shown => this.#paint("green", text);
  #paint(style: Style, text: string): Shown {
    return this.#streams.color ? styled(style, text) : text;
  }
}

export const duration = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

const oneLine = (text: string): string => forOneLine(text.replaceAll(/\s+/g, " ").trim());

/** Shortened to one line. */
const brief = (text: string): string => {
  const line = oneLine(text);
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};
