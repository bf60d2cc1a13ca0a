import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { query, to } from "../state/router.ts";
import { readSetting, writeSetting } from "../state/settings.ts";
import { printable } from "../text/printable.ts";
import { Icon } from "./icon.tsx";

interface View {
  readonly name: string;
  readonly query: string;
}

const views = signal<readonly View[]>(read());

function read(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(readSetting("views") ?? "[]");
    return Array.isArray(kept) ? kept.filter((view): view is View => typeof view?.name === "string") : [];
  } catch {
    return [];
  }
}

function keep(next: readonly View[]): void {
  views.value = next.slice(0, 20);
  writeSetting("views", JSON.stringify(views.value));
}

/** Named filters. A view is an address, so it can be shared. */
export function SavedViews(): JSX.Element {
  const naming = useSignal(false);
  const now = query.value.toString();
  const save = (event: Event) => {
    event.preventDefault();
    const name = new FormData(event.currentTarget as HTMLFormElement).get("name"); // The form it is bound to.
    naming.value = false;
    if (typeof name !== "string" || name.trim() === "") return;
    keep([...views.value.filter((view) => view.name !== name.trim()), { name: name.trim(), query: now }]);
  };
  return (
    <span class="views">
      {views.value.map((view) => (
        <span key={view.name} class={view.query === now ? "chip on" : "chip"}>
          <a href={`${to("runs")}?${view.query}`}>{printable(view.name)}</a>
          <button
            type="button"
            class="quiet tiny"
            aria-label={`Forget the view ${view.name}`}
            onClick={() => keep(views.value.filter(({ name }) => name !== view.name))}
          >
            <Icon name="cross" size={12} />
          </button>
        </span>
      ))}
      {naming.value ? (
        <form onSubmit={save}>
          <input name="name" aria-label="Name of the view" placeholder="Name, then Enter" maxLength={40} />
        </form>
      ) : now === "" ? null : (
        <button type="button" class="quiet" onClick={() => (naming.value = true)}>
          Save view
        </button>
      )}
    </span>
  );
}
