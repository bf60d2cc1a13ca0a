import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keySheetOpen, pageKeys, paletteOpen } from "../state/keys.ts";
import { go, to } from "../state/router.ts";
import { agents, hasKey, may } from "../state/session.ts";
import { singleKeys, theme } from "../state/settings.ts";
import { printable } from "../text/printable.ts";
import { askToSignOut } from "./sign-out.ts";

interface Action {
  readonly word: string;
  readonly hint: string;
  readonly run: () => void;
}

/** Actions of the open page, for the palette. */
export const pageActions = signal<readonly Action[]>([]);

/** The command palette: pages, agents, a run by its id, actions of the current page. */
export function Palette(): JSX.Element | null {
  if (!paletteOpen.value) return null;
  return <OpenPalette />;
}

function OpenPalette(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const words = useSignal("");
  const at = useSignal(0);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => {
    paletteOpen.value = false;
  };
  const found = actionsFor(words.value);
  const run = (action: Action | undefined) => {
    close();
    action?.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      at.value = (at.value + step + found.length) % Math.max(1, found.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(found[at.value]);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes with Escape by itself
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Commands"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        role="combobox"
        aria-label="Go to a page, an agent or a run"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at.value}`}
        placeholder="Go to a page, an agent, a run id …"
        value={words.value}
        onInput={(event) => {
          words.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Commands">
        {found.map((action, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox above handles keys
          <div
            key={action.word}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at.value}
            onClick={() => run(action)}
          >
            <span>{printable(action.word)}</span>
            <kbd>{action.hint}</kbd>
          </div>
        ))}
        {found.length === 0 ? <div class="faint">Nothing goes by that name</div> : null}
      </div>
    </dialog>
  );
}

const mostFound = 40;

function actionsFor(words: string): Action[] {
  const wanted = words.trim().toLowerCase();
  const all: Action[] = [
    ...pageActions.value,
    ...(may("start") ? [{ word: "New conversation", hint: "g c", run: () => go(to("chat")) }] : []),
    { word: "Runs", hint: "g r", run: () => go(to("runs")) },
    { word: "Runs that failed", hint: "", run: () => go(`${to("runs")}?status=failed`) },
    { word: "Sessions", hint: "g t", run: () => go(to("sessions")) },
    { word: "Approvals", hint: "g a", run: () => go(to("approvals")) },
    ...(may("see") ? [{ word: "Schedules", hint: "g d", run: () => go(to("schedules")) }] : []),
    ...(may("inspect") ? [{ word: "Webhooks", hint: "g w", run: () => go(to("webhooks")) }] : []),
    ...(may("see") ? [{ word: "Spend", hint: "g m", run: () => go(to("spend")) }] : []),
    ...(may("inspect") ? [{ word: "Service", hint: "g s", run: () => go(to("service")) }] : []),
    ...(["light", "dark", "system"] as const).map((each) => ({
      word: `Theme: ${each}`,
      hint: "",
      run: () => {
        theme.value = each;
      },
    })),
    {
      word: singleKeys.value ? "Switch single-key shortcuts off" : "Switch single-key shortcuts on",
      hint: "",
      run: () => {
        singleKeys.value = !singleKeys.value;
      },
    },
    { word: "Keys of the keyboard", hint: "?", run: () => (keySheetOpen.value = true) },
    ...(hasKey.value ? [{ word: "Sign out", hint: "", run: askToSignOut }] : []),
    ...agents.value.map(({ name }) => ({ word: `Chat with ${name}`, hint: "", run: () => go(to("chat", name)) })),
  ];
  const found = all.filter(({ word }) => word.toLowerCase().includes(wanted)).slice(0, mostFound);
  if (wanted.startsWith("run_")) {
    const run = words.trim();
    found.unshift({ word: `Run ${run}`, hint: "↵", run: () => go(to("runs", run)) });
  } else if (wanted !== "" && may("see")) {
    const text = words.trim();
    found.push({
      word: `Search runs for “${text}”`,
      hint: "↵",
      run: () => go(`${to("runs")}?q=${encodeURIComponent(text)}`),
    });
  }
  return found;
}

/** Binds keys and commands to the open page before it is painted; returns a function that unbinds them. */
export function bindPage(actions: readonly (Action & { readonly key?: string })[]): () => void {
  pageActions.value = actions;
  pageKeys.value = Object.fromEntries(actions.flatMap(({ key, run }) => (key === undefined ? [] : [[key, run]])));
  return () => {
    // The next page may already have bound its own.
    if (pageActions.value !== actions) return;
    pageActions.value = [];
    pageKeys.value = {};
  };
}
