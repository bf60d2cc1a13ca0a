import type { JSX } from "preact";
import { printable } from "../text/printable.ts";
import { short } from "../text/words.ts";
import { Code } from "./code.tsx";

const largest = 200_000;

export function stringify(value: unknown, indent = 2): string {
  try {
    return JSON.stringify(value, null, indent) ?? String(value);
  } catch {
    return String(value);
  }
}

/** A value as indented JSON. */
export function Json({ value }: { value: unknown }): JSX.Element {
  const text = stringify(value);
  const cut = text.length > largest ? `${text.slice(0, largest)}\n… ${text.length - largest} more characters` : text;
  return <Code text={cut} language="json" />;
}

/** Arguments on one line: `zone: "Asia/Tokyo", precise: true`. */
export function Arguments({
  value,
  most = 120,
}: {
  value: Readonly<Record<string, unknown>>;
  most?: number;
}): JSX.Element {
  const entries = Object.entries(value);
  const text = entries.map(([name, each]) => `${name}: ${short(stringify(each, 0), 60)}`).join(", ");
  return <span class="mono muted">{printable(short(text, most))}</span>;
}
