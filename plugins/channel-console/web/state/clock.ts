import { signal } from "@preact/signals";

/** The current time for display: updates ten times a second for active runs, rarely for ages of rows. */
export const fastClock = signal(Date.now());
export const slowClock = signal(Date.now());

export function startClocks(): void {
  setInterval(() => {
    if (!document.hidden) fastClock.value = Date.now();
  }, 100);
  setInterval(() => {
    slowClock.value = Date.now();
  }, 5000);
}
