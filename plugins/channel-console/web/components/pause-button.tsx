import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { LiveRun } from "../state/live.ts";
import { client } from "../state/session.ts";
import { Icon } from "./icon.tsx";

/** Pauses the run after its round, or resumes it. */
export function PauseButton({ live }: { live: LiveRun }): JSX.Element {
  const [asked, ask] = useState<"pause" | "resume">();
  const { part, name } = live.whole.times.now;
  const action = part === "paused" && name === "" ? "resume" : "pause";
  const send = () => {
    ask(action);
    client.value
      .run(live.id)
      [action]()
      .catch(() => ask(undefined));
  };
  const word = action === "resume" ? "Resume" : "Pause";
  return (
    <button
      type="button"
      title={action === "resume" ? "Lets the run go on" : "The run finishes its round and waits"}
      disabled={asked === action}
      onClick={send}
    >
      <Icon name={action === "resume" ? "play" : "pause"} size={14} />{" "}
      <span class="wide-only">{asked === action && action === "pause" ? "Pausing…" : word}</span>
    </button>
  );
}
