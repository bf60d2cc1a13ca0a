import { signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

/** A page whose script is loaded on first use. */
export function Lazy({ load }: { load: () => Promise<ComponentType> }): JSX.Element {
  const state = useMemo(() => signal<{ Page?: ComponentType; failed?: boolean }>({}), []);
  useEffect(() => {
    load().then(
      (Page) => {
        state.value = { Page };
      },
      () => {
        state.value = { failed: true };
      },
    );
  }, []);
  const { Page, failed } = state.value;
  if (Page !== undefined) return <Page />;
  if (failed !== true) return <div class="splash" aria-busy="true" />;
  return (
    <div class="center">
      <h1>This page could not be loaded</h1>
      <p class="muted">The service may have been replaced by a newer one.</p>
      <button type="button" onClick={() => location.reload()}>
        Load again
      </button>
    </div>
  );
}
