import type { JSX } from "preact";

/** Placeholder shape of content being loaded. */
export function Skeleton({ rows }: { rows: number }): JSX.Element {
  return (
    <div class="skeleton" aria-busy="true" aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        <i key={row} />
      ))}
    </div>
  );
}
