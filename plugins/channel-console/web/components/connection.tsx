import type { JSX } from "preact";
import type { LiveRun } from "../state/live.ts";
import { Icon } from "./icon.tsx";

/** Shows when the connection was lost, and at which event it resumed. */
export function Connection({ live }: { live: LiveRun }): JSX.Element | null {
  const state = live.connection.value;
  const { times, at } = live.resumed.value;
  if (state === "waiting" || (state === "connecting" && live.whole.head > 0)) {
    return (
      <div class="banner warning" role="status">
        <Icon name="warning" size={14} /> Connection lost. Events up to {live.whole.head} are here; trying again.
      </div>
    );
  }
  if (times === 0 || state === "failed") return null;
  return (
    <div class="banner" role="status">
      <Icon name="info" size={14} /> Connected again; went on after event {at}, nothing was missed.
    </div>
  );
}
