import { expect } from "chai";
import { TextPrinter } from "../../src/cli/printer.ts";
import { ansiOf } from "../../src/cli/screen.ts";
import { withSpinner } from "../../src/cli/spinner.ts";
import type { EventBody, RunEvent } from "../../src/core/events.ts";

const timing = {
  providerWait: 400,
  providerStream: 800,
  retryWait: 0,
  tool: 37,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 3,
};
const script: EventBody[] = [
  { type: "run.started", agent: "a", input: {} },
  { type: "round.started", round: 1, model: "m", attempt: 1 },
  { type: "text.delta", round: 1, text: "Let me look." },
  { type: "tool_call.ready", round: 1, call: "c", name: "clock", arguments: { zone: "UTC" } },
  { type: "tool.finished", round: 1, call: "c", name: "clock", ok: true, output: "noon\nsharp", ms: 37 },
  { type: "round.started", round: 2, model: "m", attempt: 1 },
  { type: "text.delta", round: 2, text: "Noon." },
  { type: "run.finished", finish: "stop", output: "", usage: { inputTokens: 10, outputTokens: 4 }, rounds: 2, timing },
];

function show(options: { color: boolean; verbose: boolean }): { out: string; words: string } {
  const shown = { out: "", words: "" };
  const printer = new TextPrinter({
    out: (...parts) => {
      shown.out += parts.map(ansiOf).join("");
    },
    words: (...parts) => {
      shown.words += parts.map(ansiOf).join("");
    },
    ...options,
  });
  for (const [index, body] of script.entries())
    printer.print({ ...body, run: "run_1", seq: index + 1, at: 0 } as RunEvent);
  return shown;
}

describe("a run at the terminal", () => {
  it("is the answer alone in a pipe, a line a round", () => {
    expect(show({ color: false, verbose: false })).to.deep.equal({ out: "Let me look.\nNoon.\n", words: "" });
  });

  it("shows tools, timings and tokens beside it on a terminal", () => {
    const { out, words } = show({ color: false, verbose: true });
    expect(out).to.equal("Let me look.\nNoon.\n");
    expect(words).to.equal(
      '⚙ clock {"zone":"UTC"} → noon sharp (37 ms)\n1.2 s · model 1.2 s · tools 37 ms · 2 rounds · 10 → 4 tokens · run_1\n',
    );
  });

  it("has no escape sequences without colour, and some with it", () => {
    expect(show({ color: false, verbose: true }).words).not.to.include("\u001b");
    expect(show({ color: true, verbose: true }).words).to.include("\u001b[2m");
  });

  it("takes the spinner away before anything is printed", async () => {
    let screen = "";
    let printed = "";
    const spinner = withSpinner(
      { print: (event) => (printed += `${event.type} after ${JSON.stringify(screen.slice(-4))};`) },
      (...parts) => {
        screen += parts.map(ansiOf).join("");
      },
    );
    spinner.print({ ...script[0], run: "r", seq: 1, at: 0 } as RunEvent);
    while (screen === "") await new Promise((resolve) => setTimeout(resolve, 20));
    spinner.print({ ...script[2], run: "r", seq: 2, at: 0 } as RunEvent);
    expect(printed).to.include('text.delta after "\\r\\u001b[K"');
  });
});
