import type { ComponentChildren, JSX } from "preact";
import type { Resource } from "../state/resource.ts";
import { printable } from "../text/printable.ts";
import { Empty, Header } from "./header.tsx";
import { Skeleton } from "./skeleton.tsx";

interface ListedProps<T> {
  readonly title: string;
  readonly resource: Pick<Resource<unknown>, "data" | "error" | "loading" | "again">;
  readonly items: readonly T[];
  readonly row: (item: T) => JSX.Element;
  /** Text for an empty list, and a hint how to fill it. */
  readonly empty: string;
  readonly hint: ComponentChildren;
}

/** A page with a panel for each item of a list. */
export function Listed<T>({ title, resource, items, row, empty, hint }: ListedProps<T>): JSX.Element {
  const { data, error, loading, again } = resource;
  // The channel behind the list only exists once something is configured for it.
  const isOff = error?.code === "not_found";
  const waits = data === undefined && loading;
  return (
    <div class="page">
      <Header title={title}>{waits ? null : <span class="fact">{items.length}</span>}</Header>
      {waits ? <Skeleton rows={4} /> : null}
      {data === undefined && error !== undefined && !isOff ? (
        <Empty title={`${title} could not be read`}>
          <p class="muted">{printable(error.message)}</p>
          <button type="button" onClick={again}>
            Try again
          </button>
        </Empty>
      ) : null}
      {(data !== undefined || isOff) && items.length === 0 ? (
        <Empty title={empty}>
          <p class="muted">{hint}</p>
        </Empty>
      ) : null}
      {items.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scroll" tabIndex={0} aria-label={title}>
          <div class="service">{items.map(row)}</div>
        </section>
      )}
    </div>
  );
}
