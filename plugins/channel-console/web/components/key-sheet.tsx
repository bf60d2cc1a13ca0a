import type { JSX } from "preact";
import { keySheetOpen, places } from "../state/keys.ts";
import { Dialog } from "./dialog.tsx";
import { pageActions } from "./palette.tsx";

const everywhere: readonly (readonly [string, string])[] = [
  ["⌘K or Ctrl K", "commands: pages, agents, a run by its id"],
  ["?", "this sheet"],
  ["j, k", "next and previous row; Enter opens it"],
  ["Home, End", "first and last row"],
  ["Esc", "close what is open"],
];

/** All keyboard shortcuts, those of the page first. */
export function KeySheet(): JSX.Element | null {
  return keySheetOpen.value ? <Open /> : null;
}

function Open(): JSX.Element {
  const close = () => {
    keySheetOpen.value = false;
  };
  const own = pageActions.value.filter(({ hint }) => hint !== "").map(({ word, hint }) => [hint, word] as const);
  const going = Object.entries(places).map(([key, page]) => [`g ${key}`, page] as const);
  return (
    <Dialog title="Keys" close={close} closeWord="Close" className="key-sheet">
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
    </Dialog>
  );
}
