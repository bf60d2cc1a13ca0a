import { useLayoutEffect } from "preact/hooks";
import { me, owner } from "./session.ts";

/** Sets the owner of the shown run, so that only permitted actions are offered; undefined until known. */
export function useOwner(tenant: string | undefined): void {
  useLayoutEffect(() => {
    owner.value = tenant;
    return () => {
      owner.value = me.value.tenant;
    };
  }, [tenant]);
}
