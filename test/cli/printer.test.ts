import { expect } from "chai";
import { withLiveCalls } from "../../src/cli/live-calls.ts";
import { type Streams, TextPrinter } from "../../src/cli/printer.ts";
import { ansiOf, type Shown } from "../../src/cli/screen.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";

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
  { type: "tool_call.started", round: 1, call: "c", name: "clock", index: 0 },
  { type: "tool_call.delta", round: 1, call: "c", arguments: '{"zone":' },
  { type: "tool_call.delta", round: 1, call: "c", arguments: '"UTC"}' },
  { type: "tool_call.ready", round: 1, call: "c", name: "clock", arguments: { zone: "UTC" } },
  { type: "tool.started", round: 1, call: "c", name: "clock", attempt: 1, idempotencyKey: "k" },
  { type: "tool.finished", round: 1, call: "c", name: "clock", ok: true, output: "noon\nsharp", ms: 37 },
  { type: "round.started", round: 2, model: "m", attempt: 1 },
  { type: "text.delta", round: 2, text: "Noon." },
  { type: "run.finished", finish: "stop", output: "", usage: { inputTokens: 10, outputTokens: 4 }, rounds: 2, timing },
];

let seq = 0;
const event = (body: EventBody | undefined): RunEvent => ({ ...body, run: "run_1", seq: ++seq, at: 0 }) as RunEvent;

function show(options: Pick<Streams, "color" | "beside">): { out: string; words: string } {
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
  for (const body of script) printer.print(event(body));
  return shown;
}

const end = "1.2 s · model 1.2 s · tools 37 ms · 2 rounds · 10 → 4 tokens · run_1\n";

describe("a run at the terminal", () => {
  it("is the answer alone when nothing else is wanted, a line a round", () => {
    expect(show({ color: false, beside: "nothing" })).to.deep.equal({ out: "Let me look.\nNoon.\n", words: "" });
  });

  it("shows tools, timings and tokens beside it on a terminal", () => {
    const { out, words } = show({ color: false, beside: "live" });
    expect(out).to.equal("Let me look.\nNoon.\n");
    expect(words).to.equal(`⚙ clock {"zone":"UTC"} → noon sharp (37 ms)\n${end}`);
  });

  it("has a line for each step of a call in a pipe", () => {
    const { out, words } = show({ color: false, beside: "lines" });
    expect(out).to.equal("Let me look.\nNoon.\n");
    expect(words.split("\n")).to.deep.equal([
      "clock c: called",
      'clock c: arguments {"zone":"UTC"}',
      "clock c: started",
      '⚙ clock {"zone":"UTC"} → noon sharp (37 ms)',
      ...end.split("\n"),
    ]);
  });

  it("has no escape sequences without colour, and some with it", () => {
    expect(show({ color: false, beside: "live" }).words).not.to.include("\u001b");
    expect(show({ color: true, beside: "live" }).words).to.include("\u001b[2m");
  });

  describe("draws below the last whole line", () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is sent
    const sent = /\u001b\[(\d)A|(\r?\u001b\[J)|(\u001b\[\?7[lh])|([^\u001b]+)/g;

    /** The printer on a screen that knows what the drawing uses: lines up, and clearing from there. */
    function screen(columns = 60) {
      let lines = [""];
      const written: string[] = [];
      const write = (...parts: readonly Shown[]) => {
        const text = parts.map(ansiOf).join("");
        written.push(text);
        for (const [, up, clear, cut, plain = ""] of text.matchAll(sent)) {
          if (cut !== undefined) continue;
          if (up !== undefined) lines = lines.slice(0, lines.length - Number(up));
          if (up !== undefined || clear !== undefined) lines[lines.length - 1] = "";
          const [first = "", ...rest] = plain.replaceAll("\r", "").split("\n");
          lines = [...lines.slice(0, -1), (lines.at(-1) ?? "") + first, ...rest];
        }
      };
      const streams = { out: write, words: write, color: false, beside: "live" } as const;
      return { printer: withLiveCalls(new TextPrinter(streams), write, () => columns), lines: () => lines, written };
    }
    const until = async (isDone: () => boolean) => {
      while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
    };

    it("name and arguments of a call as they stream, then that it waits or runs, and for how long", async () => {
      const { printer, lines } = screen();
      for (const body of script.slice(0, 5)) printer.print(event(body));
      expect(lines()[0]).to.equal("Let me look.");
      await until(() => / clock writing [\d.]+ m?s \{"zone":$/.test(lines()[1] ?? ""));
      printer.print(event(script[5]));
      await until(() => / clock writing [\d.]+ m?s \{"zone":"UTC"\}$/.test(lines()[1] ?? ""));
      printer.print(event(script[6]));
      expect(lines()[1]).to.match(/ clock waiting [\d.]+ m?s \{"zone":"UTC"\}$/);
      printer.print(event(script[7]));
      await until(() => / clock running (?:[1-9]00 ms|[\d.]+ s) \{"zone":"UTC"\}$/.test(lines()[1] ?? ""));
      printer.print(event(script[8]));
      expect(lines().slice(1, 2)).to.deep.equal(['⚙ clock {"zone":"UTC"} → noon sharp (37 ms)']);
      printer.print(event(script.at(-1)));
      expect(lines().slice(2)).to.deep.equal([end.trimEnd(), ""]);
    });

    it("a line for each of several calls, no more than eight, cut at the edge", async () => {
      const { printer, lines } = screen(40);
      printer.print(event(script[1]));
      for (let index = 0; index < 10; index++) {
        printer.print(event({ type: "tool_call.started", round: 1, call: `c${index}`, name: `t${index}`, index }));
        const text = '{"text":"what is said here does not fit"}';
        printer.print(event({ type: "tool_call.delta", round: 1, call: `c${index}`, arguments: text }));
      }
      await until(() => lines()[0]?.includes("does not fit") === true);
      expect(lines()).to.have.length(9);
      expect(lines()[8]).to.equal("  and 2 more");
      expect(lines()[0])
        .to.match(/^. t0 writing [\d.]+ m?s ….*fit"\}$/u)
        .and.to.have.length(39);
      printer.print(event(script.at(-1)));
      expect(lines()).to.deep.equal([end.trimEnd(), ""]);
    });

    it("nothing while a person is asked, nor below a line that is still being written", async () => {
      const { printer, lines, written } = screen();
      for (const body of script.slice(0, 7)) printer.print(event(body));
      const asked = { type: "approval.requested", round: 1, call: "c", name: "clock", arguments: {} } as const;
      printer.print(event(asked));
      const before = written.length;
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect([written.length, lines().at(-1)]).to.deep.equal([before, ""]);
      printer.print(event(script[7]));
      printer.print(event({ type: "text.delta", round: 1, text: "Meanwhile" }));
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(lines().slice(1)).to.deep.equal(["Meanwhile"]);
      printer.print(event(script.at(-1)));
    });

    it("a spinner while there is no call, taken away before anything is printed", async () => {
      const { printer, lines } = screen();
      printer.print(event(script[0]));
      await until(() => lines()[0] !== "");
      printer.print(event(script[2]));
      expect(lines()).to.deep.equal(["Let me look."]);
      printer.print(event(script.at(-1)));
    });

    it("no escape sequence of a tool's name or arguments", async () => {
      const { printer, written } = screen();
      printer.print(event(script[1]));
      printer.print(event({ type: "tool_call.started", round: 1, call: "c", name: "\u001b[2Jx\n", index: 0 }));
      printer.print(event({ type: "tool_call.delta", round: 1, call: "c", arguments: "\u001b]0;title\u0007" }));
      await until(() => written.some((text) => text.includes("title")));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not get through
      expect(written.join("").replaceAll(/\r|\u001b\[\?7[lh]|\u001b\[J/g, "")).not.to.match(/[\u0000-\u001f]/);
      printer.print(event(script.at(-1)));
    });
  });
});
