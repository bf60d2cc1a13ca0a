import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { slowClock } from "../state/clock.ts";
import { client, mayFor, owner } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";
import {
  ArgumentsForm,
  type Draft,
  draftOf,
  type FieldProblem,
  problemOf,
  readDraft,
  requireAll,
  type ToolSchema,
} from "./arguments-form.tsx";
import { Problem } from "./dialog.tsx";
import { HeldLine, useAnswer } from "./held-answer.tsx";
import { Icon } from "./icon.tsx";

export interface ToolQuestion {
  readonly run: string;
  readonly call: string;
  readonly message: string;
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly until?: number | undefined;
  readonly tenant?: string | undefined;
}

/** Answers a tool's question: a choice, a form, a text, or a confirmation that something was done elsewhere. */
export function AnswerForm({
  question,
  answered,
}: {
  question: ToolQuestion;
  answered?: (word: string) => void;
}): JSX.Element {
  const { choices, url } = question;
  const form = formOf(question.schema);
  const text = useSignal("");
  const draft = useSignal<Draft>(draftOf({}, form));
  const { held, problem, give } = useAnswer(answered);
  const wrong = useSignal<FieldProblem | undefined>(undefined);
  const run = () => client.value.run(question.run);
  const answer = (read: () => unknown) => {
    wrong.value = undefined;
    try {
      const value = read();
      give("Answered", () => run().answer(question.call, value));
    } catch (thrown) {
      wrong.value = problemOf(thrown);
    }
  };
  const typed = () => {
    if (form === undefined) return readTyped(text.value, question.schema);
    requireAll(draft.value, form);
    return readDraft(draft.value, {}, form);
  };
  const left = question.until === undefined ? undefined : question.until - slowClock.value;
  return (
    <div class="approval">
      <p dir="auto">{printable(question.message)}</p>
      {url === undefined ? null : (
        <p class="mono" dir="auto">
          {printable(url)}
        </p>
      )}
      {mayFor(question.tenant ?? owner.value, "approve") ? (
        <>
          {choices !== undefined || url !== undefined ? null : form === undefined ? (
            <label class="field">
              <span class="hidden-text">Answer</span>
              <textarea
                rows={2}
                dir="auto"
                value={text.value}
                placeholder={question.schema === undefined ? "Your answer" : "Your answer, as JSON"}
                onInput={(event) => {
                  text.value = event.currentTarget.value;
                }}
              />
            </label>
          ) : (
            <ArgumentsForm draft={draft} original={{}} schema={form} problem={wrong.value} />
          )}
          <div class="actions">
            {choices?.map((choice) => (
              <button key={choice} type="button" disabled={!held.ready} onClick={() => answer(() => choice)}>
                {printable(choice)}
              </button>
            ))}
            {choices === undefined ? (
              <button
                type="button"
                class="primary"
                data-act="answer"
                disabled={!held.ready}
                onClick={() => answer(() => (url === undefined ? typed() : undefined))}
              >
                <Icon name="check" size={14} /> {url === undefined ? "Answer" : "Done"}
              </button>
            ) : null}
            <button
              type="button"
              class="danger"
              data-act="deny"
              disabled={!held.ready}
              onClick={() => give("Declined", () => run().decline(question.call))}
            >
              <Icon name="cross" size={14} /> Decline
            </button>
            {left === undefined ? null : (
              <span class="faint">{left > 0 ? `open for ${duration(left)}` : "time is up"}</span>
            )}
          </div>
          <HeldLine held={held} />
        </>
      ) : (
        <p class="muted">Your key may not answer this question.</p>
      )}
      <Problem text={problem.value} />
    </div>
  );
}

/** The schema for a form, if it has fields. */
function formOf(schema: ToolQuestion["schema"]): ToolSchema | undefined {
  return schema !== undefined && typeof schema.properties === "object" ? (schema as ToolSchema) : undefined; // Checked by the service.
}

/** Text that is not JSON is sent unchanged, so that the service reports what is wrong. */
function readTyped(text: string, schema: ToolQuestion["schema"]): unknown {
  if (schema === undefined) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
