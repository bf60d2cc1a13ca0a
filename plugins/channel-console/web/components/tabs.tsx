import type { JSX } from "preact";

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly word: string }[];
  readonly shown: string;
  readonly choose: (name: string) => void;
}

/** Tabs after the ARIA pattern: one stop for Tab, arrows move. */
export function tabs({ label, tabs: all, shown, choose }: TabsProps): JSX.Element {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = all.findIndex(({ name }) => name === shown);
    const next = all[(at + step + all.length) % all.length];
    if (next === undefined) return;
    choose(next.name);
    requestAnimationFrame(() => document.getElementById(`tab-${next.name}`)?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {all.map(({ name, word }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === shown}
          aria-controls={name === shown ? `panel-${name}` : undefined}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => choose(name)}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
