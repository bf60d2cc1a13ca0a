import { useLayoutEffect } from "preact/hooks";
import { me, owner } from "./session.ts";

/** Of a run that is shown, so that only what the key may do to it is offered; undefined until it is known. */
export function useOwner(tenant: string | undefined): void {
  useLayoutEffect(() => {
    owner.value = tenant;
    return () => {
      owner.value = me.value.tenant;
    };
  }, [tenant]);
}
