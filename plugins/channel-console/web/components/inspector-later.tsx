import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { toast } from "./announce.tsx";
import type { Inspector, InspectorProps } from "./inspector.tsx";

const loaded = signal<{ readonly Inspector?: typeof Inspector }>({});

/** The inspector in the chat, which few open: loaded with the first selection. */
export function InspectorLater(props: InspectorProps): JSX.Element {
  useEffect(() => {
    if (loaded.value.Inspector !== undefined) return;
    import("../pages/more.tsx").then(
      (more) => {
        loaded.value = { Inspector: more.Inspector };
      },
      () => toast("The details could not be loaded; the service may have been replaced by a newer one."),
    );
  }, []);
  const Shown = loaded.value.Inspector;
  return Shown === undefined ? <aside class="inspector" aria-label="Details" aria-busy="true" /> : <Shown {...props} />;
}
