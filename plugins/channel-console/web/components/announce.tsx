import { signal } from "@preact/signals";
import type { JSX } from "preact";

const polite = signal("");
const assertive = signal("");

/** Announces a text to screen readers; `assertive` interrupts, for what waits for a person. */
export function announce(text: string, how: "polite" | "assertive" = "polite"): void {
  (how === "polite" ? polite : assertive).value = text;
}

const shown = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a message to everyone for a few seconds, on any page. */
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
