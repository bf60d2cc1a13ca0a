import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { slowClock } from "../state/clock.ts";
import { agents, client, mayFor, owner } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";
import {
  ArgumentsForm,
  type Draft,
  draftOf,
  type FieldProblem,
  problemOf,
  readDraft,
  type ToolSchema,
} from "./arguments-form.tsx";
import { Problem } from "./dialog.tsx";
import { HeldLine, ReasonField, useAnswer } from "./held-answer.tsx";
import { Icon } from "./icon.tsx";
import { Json } from "./json.tsx";

export interface AskedQuestion {
  readonly run: string;
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly tenant?: string | undefined;
}

/** Approve, approve with changed arguments, or deny. Reports if somebody else was faster. */
export function ApprovalForm({
  question,
  answered,
}: {
  question: AskedQuestion;
  answered?: (word: string) => void;
}): JSX.Element {
  const editing = useSignal(false);
  const draft = useSignal<Draft>({});
  const reason = useSignal("");
  const schema = schemaOf(question.name);
  const { held, busy, problem, give } = useAnswer(answered);
  const wrong = useSignal<FieldProblem | undefined>(undefined);
  /** The changes; undefined if there are none. */
  const changed = () => {
    const before = draftOf(question.arguments, schema);
    if (!editing.value || Object.entries(draft.value).every(([name, text]) => text === before[name])) return undefined;
    return readDraft(draft.value, question.arguments, schema);
  };
  const answer = (choice: "approve" | "allow" | "deny") => {
    wrong.value = undefined;
    const words = {
      ...(question.since === undefined ? {} : { since: question.since }),
      ...(reason.value.trim() === "" ? {} : { reason: reason.value.trim() }),
      ...(choice === "allow" ? { for: "run" as const } : {}),
    };
    const run = client.value.run(question.run);
    if (choice === "deny") return give("Denied", () => run.deny(question.call, words));
    try {
      const edited = changed();
      const terms = edited === undefined ? words : { arguments: edited, ...words };
      give(choice === "allow" ? "Allowed for this run" : "Approved", () => run.approve(question.call, terms));
    } catch (thrown) {
      wrong.value = problemOf(thrown);
    }
  };
  const edit = () => {
    draft.value = draftOf(question.arguments, schema);
    editing.value = !editing.value;
  };
  const left = question.until === undefined ? undefined : question.until - slowClock.value;
  return (
    <div class="approval">
      {question.reason === undefined ? null : <p class="muted">{printable(question.reason)}</p>}
      {editing.value ? (
        <ArgumentsForm draft={draft} original={question.arguments} schema={schema} problem={wrong.value} />
      ) : (
        <Json value={question.arguments} />
      )}
      {mayFor(question.tenant ?? owner.value, "approve") ? (
        <>
          <ReasonField reason={reason} hint="the answer" />
          <div class="actions">
            <button
              type="button"
              class="primary"
              data-act="approve"
              disabled={!held.ready}
              onClick={() => answer("approve")}
            >
              <Icon name="check" size={14} /> {editing.value ? "Approve with edits" : "Approve"}
            </button>
            <button
              type="button"
              data-act="allow"
              disabled={!held.ready}
              title={`Approve this call and all later calls of ${printable(question.name)} in this run`}
              onClick={() => answer("allow")}
            >
              Allow for this run
            </button>
            <button
              type="button"
              data-act="edit"
              disabled={held.word !== undefined || busy.value}
              aria-expanded={editing.value}
              onClick={edit}
            >
              <Icon name="edit" size={14} /> {editing.value ? "Undo edits" : "Edit"}
            </button>
            <button type="button" class="danger" data-act="deny" disabled={!held.ready} onClick={() => answer("deny")}>
              <Icon name="cross" size={14} /> Deny
            </button>
            {left === undefined ? null : (
              <span class="faint">{left > 0 ? `counts as denied in ${duration(left)}` : "time is up"}</span>
            )}
          </div>
          <HeldLine held={held} />
        </>
      ) : (
        <p class="muted">Your key may not approve this call.</p>
      )}
      <Problem text={problem.value} />
    </div>
  );
}

function schemaOf(tool: string): ToolSchema | undefined {
  for (const agent of agents.value) {
    const found = agent.tools.find(({ name }) => name === tool);
    if (found !== undefined) return found.parameters as ToolSchema; // JSON Schema, as listed by the service.
  }
  return undefined;
}
