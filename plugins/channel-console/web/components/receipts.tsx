import type { JSX } from "preact";
import type { Approval } from "venturi/client";
import { slowClock } from "../state/clock.ts";
import { to } from "../state/router.ts";
import { printable } from "../text/printable.ts";
import { ago, shortRun } from "../text/words.ts";
import { Covered } from "./question-line.tsx";

export interface Receipt {
  readonly question: Approval;
  readonly word: string;
  readonly at: number;
}

/** Answers given here, newest first. */
export function Receipts({ receipts }: { receipts: readonly Receipt[] }): JSX.Element | null {
  if (receipts.length === 0) return null;
  return (
    <ul class="receipts" aria-label="Answered">
      {receipts.map(({ question, word, at }) => (
        <li key={`${question.run} ${question.call}`}>
          {printable(word)}: <b class="mono">{printable(question.name)}</b> <Covered question={question} most={60} />{" "}
          <a href={to("runs", question.run)}>
            <span class="mono">{shortRun(question.run)}</span>
          </a>{" "}
          <span class="faint">{ago(at, slowClock.value)}</span>
        </li>
      ))}
    </ul>
  );
}
