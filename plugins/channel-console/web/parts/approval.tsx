import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { ClientError } from "venturi/client";
import { slowClock } from "../state/clock.ts";
import { agents, client, mayFor, owner } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { duration } from "../text/words.ts";
import { announce, toast } from "./announce.tsx";
import { ArgumentsForm, type Draft, draftOf, readDraft, type ToolSchema } from "./arguments-form.tsx";
import { HeldLine, useHeldAnswer } from "./held-answer.tsx";
import { Icon } from "./icon.tsx";
import { Json } from "./json.tsx";

export interface AskedQuestion {
  readonly run: string;
  readonly call: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason?: string | undefined;
  readonly until?: number | undefined;
  readonly tenant?: string | undefined;
}

/** Approve, change the arguments and approve, or deny. Somebody else may be faster: then the answer says so. */
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
  const busy = useSignal(false);
  const problem = useSignal("");
  const schema = schemaOf(question.name);
  const held = useHeldAnswer(busy);
  const answer = (verdict: "approve" | "allow" | "deny") => {
    problem.value = "";
    const word = verdict === "allow" ? "Allowed for this run" : verdict === "deny" ? "Denied" : "Approved";
    held.hold(word, () => send(verdict, word));
  };
  const send = async (verdict: "approve" | "allow" | "deny", word: string) => {
    const approved = verdict !== "deny";
    busy.value = true;
    const words = {
      ...(reason.value.trim() === "" ? {} : { reason: reason.value.trim() }),
      ...(verdict === "allow" ? { for: "run" as const } : {}),
    };
    try {
      const run = client.value.run(question.run);
      if (!approved) await run.deny(question.call, words);
      else if (!editing.value) await run.approve(question.call, words);
      else
        await run.approve(question.call, { arguments: readDraft(draft.value, question.arguments, schema), ...words });
      announce(word);
      answered?.(word);
    } catch (thrown) {
      const taken = thrown instanceof ClientError && thrown.code === "conflict";
      if (taken) {
        toast("Somebody answered this before you, or the run has ended.");
        answered?.("Answered by somebody else");
        return;
      }
      problem.value = thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      busy.value = false;
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
        <ArgumentsForm draft={draft} original={question.arguments} schema={schema} />
      ) : (
        <Json value={question.arguments} />
      )}
      {mayFor(question.tenant ?? owner.value, "approve") ? (
        <>
          <label class="field">
            <span class="hidden-text">Reason</span>
            <input
              value={reason.value}
              maxLength={1000}
              placeholder="Reason, kept with the answer (optional)"
              onInput={(event) => {
                reason.value = event.currentTarget.value;
              }}
            />
          </label>
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
      {problem.value === "" ? null : (
        <p class="problem" role="alert">
          <Icon name="warning" size={14} /> {printable(problem.value)}
        </p>
      )}
    </div>
  );
}

function schemaOf(tool: string): ToolSchema | undefined {
  for (const agent of agents.value) {
    const found = agent.tools.find(({ name }) => name === tool);
    if (found !== undefined) return found.parameters as ToolSchema; // JSON Schema, as the service lists it
  }
  return undefined;
}
