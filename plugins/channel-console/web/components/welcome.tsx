import type { JSX } from "preact";
import { agents } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { Icon } from "./icon.tsx";

/** The agent's description and tools, before the first message. */
export function Welcome({
  agent,
  send,
}: {
  agent: string;
  send: (text: string, variables: undefined) => Promise<void>;
}): JSX.Element {
  const about = agents.value.find(({ name }) => name === agent);
  const tools = about?.tools ?? [];
  const example = ["clock", "calculator"].every((wanted) => tools.some(({ name }) => name === wanted))
    ? "What time is it in Tokyo, and what is 17 * 23?"
    : "What can you do?";
  return (
    <div class="welcome">
      <h2>{printable(agent)}</h2>
      {about?.description === undefined ? null : <p class="muted">{printable(about.description)}</p>}
      <dl class="facts wide">
        <div>
          <dt>model</dt>
          <dd class="mono">{printable(about?.model ?? "")}</dd>
        </div>
        {tools.length === 0 ? null : (
          <div>
            <dt>tools</dt>
            <dd>
              {tools.map(({ name, description }) => (
                <span key={name} class="chip" title={printable(description)}>
                  {printable(name)}
                </span>
              ))}
            </dd>
          </div>
        )}
      </dl>
      <button type="button" class="suggestion" onClick={() => void send(example, undefined).catch(() => {})}>
        {example} <Icon name="send" size={14} />
      </button>
    </div>
  );
}
