import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

type Status = "ready" | "running" | "waiting" | "stranded" | "finished" | "failed";

const shapes: Readonly<Record<Status, { icon: IconName | undefined; word: string }>> = {
  ready: { icon: "clock", word: "Queued" },
  running: { icon: undefined, word: "Running" },
  waiting: { icon: "hand", word: "Needs you" },
  stranded: { icon: "warning", word: "No agent" },
  finished: { icon: "check", word: "Finished" },
  failed: { icon: "cross", word: "Failed" },
};

/** Shape, colour and word: never colour alone. */
export function Status({ status, compact = false }: { status: Status; compact?: boolean }): JSX.Element {
  const { icon, word } = shapes[status] ?? shapes.ready;
  return (
    <span class={`status ${status}${compact ? " compact" : ""}`} title={compact ? word : undefined}>
      {icon === undefined ? <span class="pulse" aria-hidden="true" /> : <Icon name={icon} size={12} />}
      <span class={compact ? "hidden-text" : undefined}>{word}</span>
    </span>
  );
}
