import { useLayoutEffect } from "preact/hooks";
import type { RunRow } from "./api-types.ts";
import { useResource } from "./resource.ts";
import { client, isForeign, me } from "./session.ts";

/** An operator that only reads is not offered what it may not do to others' runs. */
export function useForeign(id: string): void {
  const { tenant, tenants, act } = me.value;
  const { data } = useResource(
    async (signal) =>
      tenants === "all" && act !== "all"
        ? await client.value.request<RunRow>({ op: "run.get", path: `/v1/runs/${encodeURIComponent(id)}`, signal })
        : undefined,
    [id, tenants, act],
  );
  const foreign = data?.tenant !== undefined && data.tenant !== tenant;
  useLayoutEffect(() => {
    isForeign.value = foreign;
    return () => {
      isForeign.value = false;
    };
  }, [foreign]);
}
