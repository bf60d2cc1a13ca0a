import { signal } from "@preact/signals";

/** Now, as far as the page needs it: what is under way grows ten times a second, ages of rows change rarely. */
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
