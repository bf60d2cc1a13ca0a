import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { announce } from "./announce.tsx";
import { Icon } from "./icon.tsx";

export function CopyButton({ text, label }: { text: string | (() => string); label: string }): JSX.Element {
  const done = useSignal(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(typeof text === "function" ? text() : text).catch(() => {});
    done.value = true;
    announce("Copied");
    setTimeout(() => {
      done.value = false;
    }, 1200);
  };
  return (
    <button type="button" class="quiet small" title={label} aria-label={label} onClick={copy}>
      <Icon name={done.value ? "check" : "copy"} size={14} />
    </button>
  );
}
