import type { ComponentChildren, JSX } from "preact";
import { useTitle } from "../state/title.ts";

/** Page header: title on the left, actions on the right. */
export function Header({
  title,
  children,
  actions,
}: {
  title: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}): JSX.Element {
  useTitle(typeof title === "string" ? title : undefined);
  return (
    <header class="page-head">
      <h1>{title}</h1>
      <div class="page-facts">{children}</div>
      <div class="page-actions">{actions}</div>
    </header>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
