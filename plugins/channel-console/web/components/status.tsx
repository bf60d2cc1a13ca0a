import type { JSX } from "preact";
import type { RunStatus } from "../state/api-types.ts";
import { Icon, type IconName } from "./icon.tsx";

const shapes: Readonly<Record<RunStatus, { icon: IconName | undefined; word: string }>> = {
  ready: { icon: "clock", word: "Queued" },
  running: { icon: undefined, word: "Running" },
  waiting: { icon: "hand", word: "Needs you" },
  stranded: { icon: "warning", word: "No agent" },
  finished: { icon: "check", word: "Finished" },
  failed: { icon: "cross", word: "Failed" },
  cancelled: { icon: "stop", word: "Stopped" },
};

/** Shape, colour and word, never colour alone. `quiet`: the word is shown elsewhere. */
export function Status({
  status,
  compact = false,
  quiet = false,
}: {
  status: RunStatus;
  compact?: boolean;
  quiet?: boolean;
}): JSX.Element {
  const { icon, word } = shapes[status] ?? shapes.ready;
  return (
    <span class={`status ${status}${compact ? " compact" : ""}`}>
      <span class="sign" aria-hidden="true" title={compact ? word : undefined}>
        {icon === undefined ? <span class="pulse" /> : <Icon name={icon} size={12} />}
      </span>
      {quiet ? null : <span class={compact ? "hidden-text" : undefined}>{word}</span>}
    </span>
  );
}
