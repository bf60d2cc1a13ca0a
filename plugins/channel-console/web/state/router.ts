import { computed, signal } from "@preact/signals";

/** Where the page is mounted: the folder of its script. */
export const base = new URL("./", import.meta.url).pathname.replace(/\/$/, "");

const location_ = signal(read());
/** The path segments below the mount, decoded. */
export const path = computed(() => location_.value.segments);
export const query = computed(() => location_.value.query);

function read(): { segments: readonly string[]; query: URLSearchParams } {
  const below = location.pathname.slice(base.length).split("/").filter(Boolean);
  return { segments: below.map(decode), query: new URLSearchParams(location.search) };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Path of a page: `to("runs", id)`. */
export const to = (...segments: readonly string[]): string => [base, ...segments.map(encodeURIComponent)].join("/");

/** Whether this page was reached by going back: then it is restored as it was left. */
export let cameBack = false;

export function go(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(history.state, "", address);
  if (how === "push") cameBack = false;
  location_.value = read();
}

interface Kept {
  readonly scroll?: Readonly<Record<string, number>>;
}

/** A list's scroll position when this page was left. */
export const keptScroll = (list: string): number => (history.state as Kept | null)?.scroll?.[list] ?? 0; // Written below.

export function keepScroll(list: string, top: number): void {
  const kept = history.state as Kept | null;
  history.replaceState({ ...kept, scroll: { ...kept?.scroll, [list]: top } }, "");
}

/** Changes only the query. Undefined removes a parameter. */
export function setQuery(
  words: Readonly<Record<string, string | undefined>>,
  how: "push" | "replace" = "replace",
): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(words)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const search = next.size === 0 ? "" : `?${next}`;
  if (search !== location.search) go(location.pathname + search, how);
}

/** Handles links within the console without reloading the page. */
export function startRouter(): void {
  // The lists scroll, not the page, and their content arrives later than the browser would restore the position.
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    cameBack = true;
    location_.value = read();
  });
  addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.origin !== location.origin) return;
    if (link.pathname !== base && !link.pathname.startsWith(`${base}/`)) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
