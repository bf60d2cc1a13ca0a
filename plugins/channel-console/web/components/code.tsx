import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { printable } from "../text/printable.ts";
import { CopyButton } from "./copy.tsx";
import { memo } from "./memo.ts";

const colored = 20_000;
/** A block of code with its language and a button that copies it. */
export function Code({ text, language }: { text: string; language: string }): JSX.Element {
  const name = /^[\w+#.-]{1,24}/.exec(language)?.[0] ?? "";
  return (
    <div class="code">
      <div class="code-head">
        <span>{name || "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <Colored text={text} language={name.toLowerCase()} />
      </pre>
    </div>
  );
}

/** Loaded with the first code shown. */
const highlighter = signal<typeof import("../text/highlight.ts") | undefined>(undefined);
let asked = false;

/** Tokens as coloured spans. Text that is too long, or in an unknown language, has one colour. */
const Colored = memo(({ text, language }: { text: string; language: string }) => {
  if (!asked && language !== "") {
    asked = true;
    import("../text/highlight.ts").then(
      (loaded) => {
        highlighter.value = loaded;
      },
      () => {}, // Code then has one colour.
    );
  }
  const shown = printable(text);
  const tokens = shown.length > colored ? undefined : highlighter.value?.highlight(shown, language);
  if (tokens === undefined) return <code>{shown}</code>;
  return (
    <code>
      {tokens.map(({ type, value }) => (type === undefined ? value : <span class={`t-${type}`}>{value}</span>))}
    </code>
  );
});
