import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { ClientError } from "venturi/client";
import { slowClock } from "../state/clock.ts";
import { client, mayFor, owner } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";
import { announce, toast } from "./announce.tsx";
import { ArgumentsForm, type Draft, draftOf, readDraft, type ToolSchema } from "./arguments-form.tsx";
import { HeldLine, useHeldAnswer } from "./held-answer.tsx";
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

/** Answers what a tool asks: one of the choices, the fields of a form, a text, or that something was done elsewhere. */
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
  const busy = useSignal(false);
  const problem = useSignal("");
  const send = async (tell: () => Promise<void>, said: string) => {
    busy.value = true;
    problem.value = "";
    try {
      await tell();
      announce(said);
      answered?.(said);
    } catch (thrown) {
      if (thrown instanceof ClientError && thrown.code === "conflict") {
        toast("Somebody answered this before you, or the run has ended.");
        answered?.("Answered by somebody else");
        return;
      }
      problem.value = thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      busy.value = false;
    }
  };
  const run = () => client.value.run(question.run);
  const held = useHeldAnswer(busy);
  const answer = (read: () => unknown) => {
    problem.value = "";
    held.hold("Answered", () => send(async () => run().answer(question.call, read()), "Answered"));
  };
  const typed = () => (form === undefined ? readTyped(text.value, question.schema) : readDraft(draft.value, {}, form));
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
            <ArgumentsForm draft={draft} original={{}} schema={form} />
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
              onClick={() => held.hold("Declined", () => send(() => run().decline(question.call), "Declined"))}
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
      {problem.value === "" ? null : (
        <p class="problem" role="alert">
          <Icon name="warning" size={14} /> {printable(problem.value)}
        </p>
      )}
    </div>
  );
}

/** The schema as a form's, when it has fields. */
function formOf(schema: ToolQuestion["schema"]): ToolSchema | undefined {
  return schema !== undefined && typeof schema.properties === "object" ? (schema as ToolSchema) : undefined; // checked by the service
}

/** Text that is no JSON goes as it is, so that the service says what is wrong with it. */
function readTyped(text: string, schema: ToolQuestion["schema"]): unknown {
  if (schema === undefined) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
