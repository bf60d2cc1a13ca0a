import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Approval, ClientError } from "venturi/client";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { shortRun } from "../text/words.ts";
import { HeldLine, useHeldAnswer } from "./held-answer.tsx";
import { Icon } from "./icon.tsx";
import { Covered, TenantTag } from "./question-line.tsx";

interface BatchProps {
  readonly questions: readonly Approval[];
  readonly approved: boolean;
  readonly close: () => void;
  /** Of each, with what became of it. */
  readonly answered: (question: Approval, word: string) => void;
}

/** Several questions with one answer: what they cover is listed first, and they leave after the time to undo. */
export function BatchDialog({ questions, approved, close, answered }: BatchProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const busy = useSignal(false);
  const reason = useSignal("");
  const held = useHeldAnswer(busy);
  useEffect(() => dialog.current?.showModal(), []);
  const word = approved ? "Approve" : "Deny";
  const send = async () => {
    busy.value = true;
    for (const question of questions) answered(question, await tell(question, approved, reason.value.trim()));
    busy.value = false;
    close();
  };
  const calls = `${questions.length} ${questions.length === 1 ? "call" : "calls"}`;
  return (
    <dialog ref={dialog} class="fork" aria-labelledby="batch-title" onClose={close}>
      <div class="dialog-head">
        <h2 id="batch-title">
          {word} {calls}?
        </h2>
        <button type="button" class="quiet small" aria-label="Close" onClick={close}>
          <Icon name="cross" size={14} />
        </button>
      </div>
      <div class="dialog-body">
        <ol class="covered">
          {questions.map((question) => (
            <li key={`${question.run} ${question.call}`}>
              <b class="mono">{printable(question.name)}</b> <Covered question={question} most={200} />{" "}
              <TenantTag tenant={question.tenant} /> <span class="mono faint">{shortRun(question.run)}</span>
            </li>
          ))}
        </ol>
        <label class="field">
          <span class="hidden-text">Reason</span>
          <input
            value={reason.value}
            maxLength={1000}
            placeholder="Reason, kept with each answer (optional)"
            onInput={(event) => {
              reason.value = event.currentTarget.value;
            }}
          />
        </label>
        <HeldLine held={held} />
      </div>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class={approved ? "primary" : "danger"}
          data-act="batch"
          disabled={!held.ready}
          onClick={() => held.hold(approved ? "Approved" : "Denied", send)}
        >
          {word} {calls}
        </button>
      </div>
    </dialog>
  );
}

/** What became of the answer, in words. */
async function tell({ run, call, origin }: Approval, approved: boolean, reason: string): Promise<string> {
  const handle = client.value.run(origin?.run ?? run);
  const words = reason === "" ? {} : { reason };
  try {
    await (approved ? handle.approve(origin?.call ?? call, words) : handle.deny(origin?.call ?? call, words));
    return approved ? "Approved" : "Denied";
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.code === "conflict") return "Answered by somebody else";
    return `Not answered: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}
