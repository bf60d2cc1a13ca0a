import { type Change, diffWordsWithSpace } from "diff";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { printable } from "../text/printable.ts";
import { short } from "../text/words.ts";

const longestDiff = 20_000;
/** Longer texts, more than a screen, are collapsed. */
const folded = 1_500;

/** Whether two texts have so little in common that they read better one after the other than merged. */
const isRewritten = (changes: readonly Change[], length: number): boolean =>
  changes.reduce((kept, { value, added, removed }) => kept + (added || removed ? 0 : value.trim().length), 0) <
  length / 3;

/** Marks words that only one of the two has, with a sign and not by colour alone. */
export function Diffed({ title, a, b }: { title: string; a: string; b: string }): JSX.Element | null {
  const changes = useMemo(
    () => (a.length + b.length > longestDiff ? undefined : diffWordsWithSpace(a, b, { timeout: 60 })),
    [a, b],
  );
  if (a === "" && b === "") return null;
  let body: ComponentChildren;
  if (a === b) body = <span class="pre-wrap">{printable(short(a, 2000))}</span>;
  else if (changes === undefined || isRewritten(changes, Math.max(a.length, b.length))) {
    body = (
      <>
        <del class="pre-wrap whole">{printable(short(a, 4000))}</del>
        <ins class="pre-wrap whole">{printable(short(b, 4000))}</ins>
      </>
    );
  } else {
    body = changes.map(({ value, added, removed }) =>
      added ? <ins>{printable(value)}</ins> : removed ? <del>{printable(value)}</del> : <span>{printable(value)}</span>,
    );
  }
  const diff = (
    <div class={a === b ? "diff same" : "diff"} dir="auto">
      {body}
    </div>
  );
  const long = Math.max(a.length, b.length) > folded;
  return (
    <div class="diffed">
      <h3>
        {title} {a === b ? <span class="faint">same</span> : null}
      </h3>
      {long ? (
        <details>
          <summary class="muted">
            {a.length} → {b.length} characters
          </summary>
          {diff}
        </details>
      ) : (
        diff
      )}
    </div>
  );
}
