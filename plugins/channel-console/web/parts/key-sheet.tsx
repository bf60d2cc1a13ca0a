import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keySheetOpen, places } from "../state/keys.ts";
import { pageActions } from "./palette.tsx";

const everywhere: readonly (readonly [string, string])[] = [
  ["⌘K or Ctrl K", "commands: pages, agents, a run by its id"],
  ["?", "this sheet"],
  ["j, k", "next and previous row; Enter opens it"],
  ["Home, End", "first and last row"],
  ["Esc", "close what is open"],
];

/** All keys: those of the page first. */
export function KeySheet(): JSX.Element | null {
  return keySheetOpen.value ? <Open /> : null;
}

function Open(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => {
    keySheetOpen.value = false;
  };
  const own = pageActions.value.filter(({ hint }) => hint !== "").map(({ word, hint }) => [hint, word] as const);
  const going = Object.entries(places).map(([key, page]) => [`g ${key}`, page] as const);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes with Escape by itself
    <dialog
      ref={dialog}
      class="fork key-sheet"
      aria-labelledby="keys-title"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="dialog-head">
        <h2 id="keys-title">Keys</h2>
      </div>
      <div class="dialog-body">
        {[own, going, everywhere].map((group, index) =>
          group.length === 0 ? null : (
            <dl key={index}>
              {group.map(([key, word]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{word}</dd>
                </div>
              ))}
            </dl>
          ),
        )}
      </div>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}
