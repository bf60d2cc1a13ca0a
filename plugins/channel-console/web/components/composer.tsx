import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { agents, may } from "../state/session.ts";
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
import { Icon } from "./icon.tsx";

interface ComposerProps {
  readonly agent: string;
  /** A message then steers the run instead of starting one. */
  readonly running: boolean;
  readonly send: (text: string, variables: Readonly<Record<string, unknown>> | undefined) => Promise<void>;
}

/** The message input. Enter sends, Shift+Enter inserts a line break. */
export function Composer({ agent, running, send }: ComposerProps): JSX.Element {
  const text = useSignal("");
  const busy = useSignal(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const schema = agents.value.find(({ name }) => name === agent)?.inputs as ToolSchema | undefined; // JSON Schema.
  const draft = useSignal<Draft>(schema === undefined ? {} : defaults(schema));
  const problem = useSignal<FieldProblem | undefined>(undefined);
  const blocked = running && !may("steer");
  const submit = async () => {
    if (busy.value || blocked || text.value.trim() === "") return;
    busy.value = true;
    problem.value = undefined;
    const words = text.value;
    text.value = "";
    try {
      if (!running) requireAll(draft.value, schema);
      await send(words, schema === undefined || running ? undefined : readDraft(draft.value, {}, schema));
    } catch (thrown) {
      text.value = words; // Keeps what was typed; the page shows errors that are not about a field.
      problem.value = problemOf(thrown);
    } finally {
      busy.value = false;
      if (problem.value === undefined) area.current?.focus();
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {schema === undefined || running ? null : (
        <details class="inputs" open={(schema.required ?? []).length > 0 || problem.value !== undefined}>
          <summary>Inputs of {agent}</summary>
          <ArgumentsForm draft={draft} original={undefined} schema={schema} problem={problem.value} />
        </details>
      )}
      <div class="composer-box">
        <textarea
          id="composer"
          ref={area}
          rows={1}
          aria-label={running ? "Steer the run" : `Message to ${agent}`}
          placeholder={running ? "Steer: the next round sees this …" : `Message ${agent} …`}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void submit();
          }}
        />
        <button
          type="submit"
          class="primary round"
          disabled={busy.value || blocked || text.value.trim() === ""}
          aria-label={running ? "Steer" : "Send"}
        >
          <Icon name={running ? "steer" : "send"} />
        </button>
      </div>
    </form>
  );
}

const defaults = (schema: ToolSchema): Draft =>
  draftOf(
    Object.fromEntries(
      Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
        field.default === undefined ? [] : [[name, field.default]],
      ),
    ),
    schema,
  );
