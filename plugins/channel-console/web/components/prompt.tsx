import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Message } from "../state/api-types.ts";
import type { LiveRun } from "../state/live.ts";
import { instructionsOf, type Prompt, usePrompt } from "../state/prompt.ts";
import { may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { short } from "../text/words.ts";
import { CopyButton } from "./copy.tsx";
import { Diffed } from "./diffed.tsx";
import { Section } from "./facts.tsx";
import { Json, stringify } from "./json.tsx";

/** The request of a round to its model, compared with the previous round. */
export function PromptView({ live }: { live: LiveRun }): JSX.Element | null {
  const rounds = live.whole.rounds.map(({ round }) => round);
  const chosen = useSignal<number | undefined>(undefined);
  const round = chosen.value ?? rounds.at(-1) ?? 0;
  const { data, error, loading } = usePrompt(live.id, round);
  const before = usePrompt(live.id, round - 1).data;
  if (!may("inspect")) return <p class="muted">Your key may not see prompts: it needs the scope inspect.</p>;
  if (rounds.length === 0) return null;
  return (
    <Section title="Prompt">
      <div class="prompt-head">
        <fieldset class="segmented" aria-label="Round">
          {rounds.slice(-12).map((each) => (
            <button key={each} type="button" aria-pressed={each === round} onClick={() => (chosen.value = each)}>
              Round {each}
            </button>
          ))}
        </fieldset>
        {data === undefined ? null : (
          <>
            <span class={data.exact ? "tag" : "tag warning"}>{data.exact ? "as sent" : "made again"}</span>
            <span class="mono muted">{printable(data.model)}</span>
            <CopyButton text={() => stringify(data)} label="Copy the prompt" />
          </>
        )}
      </div>
      {error === undefined ? null : <p class="muted">{printable(error.message)}</p>}
      {data === undefined || data.round !== round ? (
        loading ? (
          <div aria-busy="true" />
        ) : null
      ) : (
        <Body prompt={data} before={before?.round === round - 1 ? before : undefined} />
      )}
    </Section>
  );
}

function Body({ prompt, before }: { prompt: Prompt; before: Prompt | undefined }): JSX.Element {
  const said = prompt.messages.filter(({ role }) => role !== "system");
  const earlier = (before?.messages ?? []).filter(({ role }) => role !== "system");
  let same = 0;
  while (same < said.length && stringify(said[same], 0) === stringify(earlier[same], 0)) same += 1;
  const names = (of: Prompt) => of.tools.map(({ name }) => name).join(", ");
  return (
    <>
      {prompt.notes.map((note) => (
        <p key={note} class="muted">
          {printable(note)}
        </p>
      ))}
      <Diffed
        title="Instructions"
        a={before === undefined ? instructionsOf(prompt) : instructionsOf(before)}
        b={instructionsOf(prompt)}
      />
      <h3>
        Messages <span class="faint">{said.length}</span>
      </h3>
      {same === 0 ? null : (
        <details class="prompt-same">
          <summary>
            {same} as in round {prompt.round - 1}
          </summary>
          <Messages messages={said.slice(0, same)} mark={undefined} />
        </details>
      )}
      <Messages messages={earlier.slice(same)} mark="left out" />
      <Messages messages={said.slice(same)} mark={before === undefined ? undefined : "new"} />
      {before === undefined ? (
        <details>
          <summary>
            {prompt.tools.length} tools: {printable(short(names(prompt), 120))}
          </summary>
          <Json value={prompt.tools} />
        </details>
      ) : (
        <Diffed title="Tools" a={names(before)} b={names(prompt)} />
      )}
      <Diffed title="Options" a={optionsOf(before ?? prompt)} b={optionsOf(prompt)} />
    </>
  );
}

const optionsOf = ({ options, toolChoice, output }: Prompt): string =>
  stringify({
    ...options,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(output === undefined ? {} : { output }),
  });

function Messages({
  messages,
  mark,
}: {
  messages: readonly Message[];
  mark: "new" | "left out" | undefined;
}): JSX.Element {
  return (
    <ol class="prompt-messages">
      {messages.map((message, index) => (
        <li key={index} class={mark === undefined ? "" : mark === "new" ? "added" : "removed"}>
          <span class="tag">{message.role}</span> {mark === undefined ? null : <span class="tag">{mark}</span>}
          {message.parts.map((part, at) =>
            part.type === "text" ? (
              <div key={at} class="pre-wrap" dir="auto">
                {printable(short(part.text, 20_000))}
              </div>
            ) : (
              <Json key={at} value={part} />
            ),
          )}
        </li>
      ))}
    </ol>
  );
}
