import { randomInt } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { EventOf } from "../core/run/events.ts";
import type { AskedEvent } from "../core/run/questions.ts";
import { ansiOf, forOneLine, reset, type Shown, styled, wantsColor } from "./screen.ts";

export interface Answer {
  readonly approved: boolean;
  /** Answer to a tool's question. */
  readonly answer?: unknown;
  readonly reason?: string;
}

/** How often an unclear answer is asked again. */
const tries = 3;

/**
 * Asks at the terminal. Without one the call is refused rather than left waiting. To approve, the user types a random number shown with the
 * question: text printed earlier by a model or tool cannot contain it, so it cannot trick the user. `closed`: an answer is no longer
 * needed.
 */
export async function askPerson(event: AskedEvent, closed: AbortSignal): Promise<Answer> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    return { approved: false, reason: "nobody is at the terminal to answer" };
  }
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = new AbortController();
  const signal = AbortSignal.any([interrupted.signal, closed]);
  // The terminal was closed. The signal that says so cancels the run.
  ask.on("error", () => interrupted.abort());
  // Readline captures Ctrl-C, which must reach the run.
  ask.on("SIGINT", () => {
    interrupted.abort();
    process.emit("SIGINT");
  });
  try {
    if (event.type === "question.asked") {
      return answerOf(event, await ask.question(inputQuestionOf(event), { signal }));
    }
    for (let left = tries; left > 0; left--) {
      const number = String(randomInt(100, 1_000));
      const answer = await ask.question(questionOf(event, number), { signal });
      const verdict = verdictOf(answer, number);
      if (verdict !== undefined) return verdict;
    }
    return { approved: false, reason: "no clear answer at the terminal" };
  } catch {
    return { approved: false, reason: "interrupted at the terminal" };
  } finally {
    ask.close();
  }
}

/** Undefined for anything else, which may have been typed for another purpose. */
export function verdictOf(answer: string, number: string): Answer | undefined {
  const said = answer.trim();
  if (said === number) return { approved: true };
  return /^(?:no?)?$/i.test(said) ? { approved: false, reason: "refused at the terminal" } : undefined;
}

/** Interprets what was typed: the number of a choice, JSON if there is a schema, or the text. */
export function answerOf({ choices, schema, url }: EventOf<"question.asked">, typed: string): Answer {
  const said = typed.trim();
  if (said === "") return { approved: false, reason: "declined at the terminal" };
  if (url !== undefined) return { approved: true };
  const choice = choices?.[numbersOf(choices).indexOf(said)] ?? said;
  if (choices !== undefined || schema === undefined) return { approved: true, answer: choice };
  try {
    return { approved: true, answer: JSON.parse(said) };
  } catch {
    return { approved: true, answer: said };
  }
}

/** Empty if a choice is itself a number in the list: typing 2 would be ambiguous. */
function numbersOf(choices: readonly string[]): string[] {
  const numbers = choices.map((_, index) => String(index + 1));
  return numbers.some((number) => choices.includes(number)) ? [] : numbers;
}

export function inputQuestionOf({ name, message, choices, schema, url, origin }: EventOf<"question.asked">): string {
  const who = origin === undefined ? "" : ` for the agent ${forOneLine(origin.agent)}`;
  const how = url === undefined ? "Type your answer" : "Type done when you have done it there";
  const numbers = numbersOf(choices ?? []).map((number) => `${number}.`);
  const form = schema === undefined ? [] : [`  as JSON that fits ${forOneLine(JSON.stringify(schema))}\n`];
  const lines: Shown[] = [
    reset,
    "\n",
    wantsColor(process.stderr) ? styled("inverse", " Venturi asks ") : "[ Venturi asks ]",
    ` ${forOneLine(name)}${who}: ${forOneLine(message)}\n`,
    ...(choices ?? []).map((choice, index) => `  ${numbers[index] ?? "-"} ${forOneLine(choice)}\n`),
    ...(url === undefined ? [] : [`  at ${forOneLine(url)}\n`]),
    ...form,
    `  ${how}, or press Enter to decline: `,
  ];
  return lines.map(ansiOf).join("");
}

/** The question, with all untrusted text on separate lines. */
export function questionOf(event: EventOf<"approval.requested">, number: string): string {
  const { name, arguments: input, reason, origin } = event;
  const color = wantsColor(process.stderr);
  const title = " Venturi asks ";
  const lines: Shown[] = [
    reset,
    "\n",
    color ? styled("inverse", title) : `[${title}]`,
    ` May ${forOneLine(name)} run${origin === undefined ? "" : ` for the agent ${forOneLine(origin.agent)}`}?\n`,
    `  with ${forOneLine(JSON.stringify(input))}\n`,
    ...(reason === undefined ? [] : [`  because ${forOneLine(reason)}\n`]),
    "  Type ",
    color ? styled("bold", number) : number,
    " to let it run, or press Enter to refuse: ",
  ];
  return lines.map(ansiOf).join("");
}
