import type { ComponentChildren, JSX } from "preact";
import { printable } from "../text/printable.ts";
import { CopyButton } from "./copy.tsx";

export const Section = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="detail">
    <h3>{title}</h3>
    {children}
  </section>
);

type Fact = readonly [string, ComponentChildren];

export function Facts({ facts }: { facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? printable(value) : value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

export const Id = ({ text }: { text: string }) => (
  <span class="id">
    <span class="mono">{printable(text)}</span>
    <CopyButton text={text} label="Copy" />
  </span>
);
