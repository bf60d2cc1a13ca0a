import { effect, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

const page = signal("");
/** Number of questions waiting for a person. */
export const waiting = signal(0);

/** Sets the title in the browser's tab and history. */
export function useTitle(title: string | undefined): void {
  useLayoutEffect(() => {
    if (title !== undefined) page.value = title;
  }, [title]);
}

effect(() => {
  const count = waiting.value === 0 ? "" : `(${waiting.value}) `;
  document.title = `${count}${page.value === "" ? "" : `${page.value} · `}Venturi`;
});
