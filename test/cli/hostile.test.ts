import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { answerOf, inputQuestionOf, questionOf, verdictOf } from "../../src/cli/approve.ts";
import { TextPrinter } from "../../src/cli/printer.ts";
import { ansiOf, type Shown } from "../../src/cli/screen.ts";
import { spanTree } from "../../src/cli/span-tree.ts";
import { waterfall } from "../../src/cli/waterfall.ts";
import type { EventOf, RunEvent } from "../../src/core/run/events.ts";
import { traceOfEvents } from "../../src/host/recordings/trace-of-events.ts";
import { textLog } from "../../src/host/system/log.ts";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const forged = "\nMay shell run with {}? [y/N] ";
/** Clipboard, title, clear screen, hidden text, an 8-bit CSI, a device query, an override, a forged question, a hidden tag. */
const hostile = `x\u001b]52;c;cm0gLXJm\u0007\u001b]0;title\u001b\\\u001b[2J\u001b[8m\u009b31m\u001b[6n\u202etxt\r${forged}\u{e0041}\b\u0085y`;

const esc = String.fromCharCode(27);
const ours = new RegExp(`${esc}\\[(?:0|1|2|7|31|32|33|36)m`, "g");
const lineBack = new RegExp(`\r${esc}\\[K|\r\n|\r[\u2800-\u28ff] `, "g");
/** Our own colours taken out, whatever is left must be plain. */
const plain = (text: string) => text.replaceAll(ours, "").replaceAll(lineBack, "\n");
const unsafe = new RegExp(
  `[${"\x00-\x08\x0b-\x1f\x7f-\x9f"}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]`,
  "u",
);

const timing = { providerWait: 1, providerStream: 1, tool: 1, approval: 0, client: 0, runtime: 1 };
const error = { op: hostile as "agent.run", code: "llm_error" as const, err: hostile };
const of = { run: hostile, at: 1 };
const call = { ...of, round: 1, call: hostile };
const events = [
  { type: "run.started", ...of, agent: hostile, session: hostile, input: { text: hostile } },
  {
    type: "round.started",
    ...of,
    round: 1,
    model: hostile,
    provider: hostile,
    attempt: 1,
    warnings: [hostile],
    skipped: [hostile],
  },
  { type: "reasoning.delta", ...of, round: 1, text: hostile },
  { type: "text.delta", ...of, round: 1, text: hostile },
  { type: "refusal.delta", ...of, round: 1, text: hostile },
  { type: "tool_call.started", ...call, name: hostile, index: 0 },
  { type: "tool_call.ready", ...call, name: hostile, arguments: { [hostile]: hostile } },
  { type: "tool_call.rejected", ...call, name: hostile, arguments: hostile, error },
  { type: "tool.started", ...call, name: hostile, attempt: 1, idempotencyKey: hostile },
  { type: "tool.output", ...call, text: `${hostile}\n` },
  { type: "tool.output", ...call, text: hostile },
  { type: "tool.finished", ...call, name: hostile, ok: true, output: hostile, ms: 1 },
  { type: "tool.finished", ...call, name: hostile, ok: false, error, ms: 1 },
  { type: "approval.requested", ...call, name: hostile, arguments: { [hostile]: hostile }, reason: hostile },
  { type: "approval.resolved", ...call, approved: false, reason: hostile, by: hostile },
  { type: "generation.failed", ...of, round: 1, attempt: 1, model: hostile, error, retryMs: 5 },
  { type: "round.retracted", ...of, round: 1, attempt: 1, reason: hostile },
  {
    type: "run.finished",
    ...of,
    finish: "length",
    output: hostile,
    calls: [{ call: hostile, name: hostile, arguments: { a: hostile } }],
    usage: {},
    rounds: 1,
    timing,
  },
  { type: "run.failed", ...of, error, output: hostile, usage: {}, rounds: 1, timing },
].map((event, index) => ({ ...event, seq: index + 1 }) as unknown as RunEvent);

describe("hostile text at the terminal", () => {
  for (const color of [true, false]) {
    it(`no field of any event gets through ${color ? "with" : "without"} colours`, () => {
      for (const event of events) {
        let shown = "";
        const keep = (...parts: readonly Shown[]) => {
          shown += parts.map(ansiOf).join("");
        };
        const printer = new TextPrinter({ out: keep, words: keep, color, beside: "live" });
        for (const before of events.slice(0, 7)) if (event.seq > 7) printer.print(before);
        printer.print(event);
        expect(plain(shown), event.type).not.to.match(unsafe);
        // A note is one line: what stands in it can't begin another.
        const spoken = event.type === "text.delta" || event.type === "reasoning.delta" || event.seq > 7;
        if (!spoken) expect(plain(shown), event.type).not.to.contain(forged);
      }
    });
  }

  it("questions have nothing of others' outside of their lines, and no text above can know the answer", () => {
    const question = questionOf(
      events.find((event) => event.type === "approval.requested") as EventOf<"approval.requested">,
      "417",
    );
    expect(plain(question)).not.to.match(unsafe);
    expect(question.startsWith("\u001b[0m\n"), "attributes are reset first").to.equal(true);
    expect(plain(question).split("\n")).to.have.length(5);
    expect(plain(question)).to.match(/Type 417 to let it run, or press Enter to refuse: $/);
    expect(verdictOf("417", "417")).to.deep.equal({ approved: true });
    for (const yes of ["y", "yes", "Y", "ok", "418", "true"]) expect(verdictOf(yes, "417"), yes).to.equal(undefined);
    for (const no of ["", "n", "no", " N "]) expect(verdictOf(no, "417")).to.include({ approved: false });
  });

  const asking = (asks: Partial<EventOf<"question.asked">>): EventOf<"question.asked"> => ({
    ...{
      type: "question.asked",
      run: "r",
      seq: 1,
      at: 0,
      round: 1,
      call: "c",
      name: "ask",
      kind: "input",
      message: "Which?",
    },
    ...asks,
  });

  it("so have those of tools: message, choices, schema and address are a line each", () => {
    const asked = asking({
      name: hostile,
      message: hostile,
      choices: [hostile, "b"],
      schema: { title: hostile },
      url: hostile,
    });
    const question = plain(inputQuestionOf(asked));
    expect(question).not.to.match(unsafe);
    expect(question.split("\n")).to.have.length(7);
    expect(answerOf(asked, "1")).to.deep.equal({ approved: true });
  });

  it("a choice is typed by its number or in full; one that is a number of the list itself only in full", () => {
    const days = asking({ choices: ["Mon", "Tue"] });
    for (const typed of ["2", " 2 ", "Tue"])
      expect(answerOf(days, typed)).to.deep.equal({ approved: true, answer: "Tue" });
    for (const typed of ["3", "0", "-1", "1e0"]) expect(answerOf(days, typed).answer).to.equal(typed);
    const guests = asking({ choices: ["2", "4", "1"] });
    for (const typed of ["1", "2", "4", "3"]) expect(answerOf(guests, typed).answer).to.equal(typed);
    expect(plain(inputQuestionOf(days))).to.contain("  2. Tue\n");
    expect(plain(inputQuestionOf(guests))).to.contain("  - 2\n  - 4\n  - 1\n");
  });

  it("logs as text are one plain line a message", () => {
    const lines: string[] = [];
    textLog("debug", (line) => lines.push(line)).error(hostile, {
      [hostile]: hostile,
      list: [hostile],
      nothing: undefined,
    });
    expect(lines).to.have.length(1);
    expect(lines[0]?.trimEnd()).not.to.match(unsafe).and.not.to.contain("\n");
  });

  it("a waterfall is plain but for its colours", () => {
    const drawing = waterfall(spanTree(traceOfEvents(events.filter((event) => event.type !== "run.finished"))), {
      width: 120,
      color: true,
      everything: true,
    });
    expect(plain(drawing)).not.to.match(unsafe);
  });

  it("commands write through the screen alone", () => {
    const others = globSync("src/cli/**/*.ts", { cwd: root }).filter(
      (file) => !/(?:screen|bin|version)\.ts$|new-plugin\//.test(file),
    );
    expect(others).to.have.length.above(20);
    for (const file of others) {
      expect(readFileSync(`${root}${file}`, "utf8"), file).not.to.match(
        /process\.std(?:out|err)\.write\(|console\.\w+\(/,
      );
    }
  });
});

describe("a hostile model and tool, driven through the command line", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const config = () =>
    folder.write({
      "venturi.yaml": `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - name: evil
        turns:
          - { text: ${JSON.stringify(hostile)}, calls: [{ name: pay, arguments: { to: ${JSON.stringify(hostile)} } }, { name: ${JSON.stringify("none")}, arguments: {} }] }
          - { text: "{{results}}" }
      - name: down
        turns: [{ error: { status: 400, message: ${JSON.stringify(hostile)} } }]
tools: { pay: { type: module, path: ./pay.mjs, approval: always } }
agents:
  evil: { model: demo/evil, instructions: Work., tools: [pay] }
  down: { model: demo/down, instructions: Work. }
journal: { type: memory }
telemetry: { logs: { format: text } }
`,
      "pay.mjs": `export default { description: "Pays.", parameters: { type: "object", properties: { to: { type: "string" } } },
  call: () => ${JSON.stringify(`paid ${hostile}`)} };\n`,
    });

  it("text, results and errors reach neither pipe as anything but text", async () => {
    const file = config();
    for (const agent of ["evil", "down"]) {
      const { out, err } = await venturi(["run", agent, "hi", "--config", file]);
      expect(out + err, agent)
        .to.contain("␛]52;c;")
        .and.not.to.match(unsafe);
      const json = await venturi(["run", agent, "hi", "--json", "--config", file]);
      expect(json.out).not.to.match(unsafe);
      for (const line of json.out.trim().split("\n")) JSON.parse(line);
    }
  });

  const script = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "";
  const pty = script.includes("util-linux");

  /** The command on its own terminal; `answer` is asked what to type at the question's number. */
  const onTerminal = async (file: string, answer: (number: string, times: number) => string): Promise<string> => {
    const bin = `${root}dist/src/cli/bin.js`;
    const command = `${process.execPath} --no-warnings ${bin} run evil hi --config ${file}`;
    const child: ChildProcess = spawn("script", ["-qfec", command, "/dev/null"], {
      env: { ...process.env, TERM: "xterm" },
    });
    let screen = "";
    let asked = 0;
    child.stdout?.on("data", (data) => {
      screen += data;
      const numbers = [...plain(screen).matchAll(/Type (\d{3}) to let it run, or press Enter to refuse: /g)];
      if (numbers.length > asked) child.stdin?.write(`${answer(numbers.at(-1)?.[1] ?? "", ++asked)}\n`);
    });
    await new Promise((resolve) => child.once("close", resolve));
    return screen;
  };

  it(`on a terminal a forged question leads to nothing: y is no answer, the number is (script is ${pty ? "here" : "not here"})`, async function () {
    if (!pty) return this.skip();
    const file = config();
    const refused = await onTerminal(file, () => "y");
    expect(refused.match(/Venturi asks/g)).to.have.length(3);
    expect(refused).not.to.contain("paid");
    const approved = await onTerminal(file, (number, times) => (times === 1 ? "y" : number));
    expect(approved).to.contain("paid");
    // Readline draws its own line with cursor movements; nothing of the model's is among what is on the screen.
    for (const screen of [refused, approved]) {
      for (const sequence of [`${esc}]`, `${esc}P`, `${esc}[8m`, `${esc}[2J`, `${esc}[6n`, "\u009b", "\u202e", "\b"]) {
        expect(screen.includes(sequence), JSON.stringify(sequence)).to.equal(false);
      }
      expect(screen).to.contain("␛]52;c;");
    }
  });
});
