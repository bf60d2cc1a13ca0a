import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Approval } from "venturi/client";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";
import { Dialog } from "./dialog.tsx";
import { deliver, HeldLine, ReasonField, useHeldAnswer } from "./held-answer.tsx";
import { Covered, TenantTag } from "./question-line.tsx";

interface BatchProps {
  readonly questions: readonly Approval[];
  readonly approved: boolean;
  readonly close: () => void;
  /** Called for each question with its outcome. */
  readonly answered: (question: Approval, word: string) => void;
}

/** Answers several questions at once: lists what they cover first, and sends after the time to undo. */
export function BatchDialog({ questions, approved, close, answered }: BatchProps): JSX.Element {
  const busy = useSignal(false);
  const reason = useSignal("");
  const held = useHeldAnswer(busy);
  const said = approved ? "Approved" : "Denied";
  const send = async () => {
    busy.value = true;
    const words = reason.value.trim() === "" ? {} : { reason: reason.value.trim() };
    for (const question of questions) {
      const { run, call, origin } = question;
      const handle = client.value.run(origin?.run ?? run);
      const became = await deliver(said, () =>
        approved ? handle.approve(origin?.call ?? call, words) : handle.deny(origin?.call ?? call, words),
      );
      answered(question, "problem" in became ? `Not answered: ${became.problem}` : became.word);
    }
    busy.value = false;
    close();
  };
  const word = `${approved ? "Approve" : "Deny"} ${questions.length} ${questions.length === 1 ? "call" : "calls"}`;
  // Closing takes the answer back; otherwise leaving would send it.
  const cancel = () => {
    held.takeBack();
    close();
  };
  return (
    <Dialog
      title={`${word}?`}
      close={cancel}
      foot={
        <button
          type="button"
          class={approved ? "primary" : "danger"}
          data-act="batch"
          disabled={!held.ready}
          onClick={() => held.hold(said, send)}
        >
          {word}
        </button>
      }
    >
      <ol class="covered">
        {questions.map((question) => (
          <li key={`${question.run} ${question.call}`}>
            <b class="mono">{printable(question.name)}</b> <Covered question={question} most={200} />{" "}
            <TenantTag tenant={question.tenant} /> <span class="mono faint">{shortRun(question.run)}</span>
          </li>
        ))}
      </ol>
      <ReasonField reason={reason} hint="each answer" />
      <HeldLine held={held} />
    </Dialog>
  );
}
