import { signal } from "@preact/signals";
import { go, to } from "./router.ts";
import { singleKeys } from "./settings.ts";

export const paletteOpen = signal(false);
export const keySheetOpen = signal(false);

/** Actions of the open page, by key. */
export const pageKeys = signal<Readonly<Record<string, () => void>>>({});

/** Pages by the key pressed after `g`. */
export const places: Readonly<Record<string, string>> = {
  c: "chat",
  r: "runs",
  t: "sessions",
  a: "approvals",
  s: "service",
  d: "schedules",
  w: "webhooks",
  m: "spend",
};

/** Moves in the page's main list. */
let moveInList: ((step: number) => void) | undefined;

/** Binds `j` and `k` to a list; returns a function that unbinds them. */
export function bindList(move: (step: number) => void): () => void {
  moveInList = move;
  return () => {
    if (moveInList === move) moveInList = undefined;
  };
}

/** Installs the console's shortcuts; returns a function that removes them. */
export function startKeys(): () => void {
  /** When `g` was pressed. Not 0: on a page less than a second old, any key would count as the second of a pair. */
  let leader = Number.NEGATIVE_INFINITY;
  const onKey = (event: KeyboardEvent) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      paletteOpen.value = !paletteOpen.value;
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
    if (event.key === "Escape") return pageKeys.value.Escape?.();
    if (!singleKeys.value) return;
    if (performance.now() - leader < 1000) {
      leader = Number.NEGATIVE_INFINITY;
      const place = places[event.key];
      if (place !== undefined) {
        event.preventDefault();
        go(to(place));
      }
      return;
    }
    if (event.key === "g") {
      leader = performance.now();
      return;
    }
    if (event.key === "?") {
      keySheetOpen.value = true;
      return;
    }
    if ((event.key === "j" || event.key === "k") && moveInList !== undefined) {
      event.preventDefault();
      return moveInList(event.key === "j" ? 1 : -1);
    }
    const action = pageKeys.value[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
