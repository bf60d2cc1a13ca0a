import { signal } from "@preact/signals";
import type { JSX } from "preact";

const polite = signal("");
const assertive = signal("");

/** Says something to screen readers: what waits for a person at once, the rest when there is a pause. */
export function announce(text: string, how: "polite" | "assertive" = "polite"): void {
  (how === "polite" ? polite : assertive).value = text;
}

const shown = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says something to everyone, for a few seconds, wherever the page is then. */
export function toast(text: string): void {
  shown.value = text;
  announce(text, "assertive");
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown.value = "";
  }, 8000);
}

export function Announcements(): JSX.Element {
  return (
    <>
      {shown.value === "" ? null : <div class="toast">{shown.value}</div>}
      <div class="hidden-text" role="status" aria-live="polite">
        {polite.value}
      </div>
      <div class="hidden-text" role="alert" aria-live="assertive">
        {assertive.value}
      </div>
    </>
  );
}
