import { type Medians, mediansOf } from "../fold/medians.ts";
import type { RunRow } from "./api-types.ts";
import { useResource } from "./resource.ts";
import { client } from "./session.ts";

const lastRuns = 20;

/** The agent's usual figures: medians of its last finished runs. */
export function useMedians(agent: string): Medians | undefined {
  const { data } = useResource(
    async (signal) =>
      agent === ""
        ? undefined
        : await client.value.request<{ runs: RunRow[] }>({
            op: "run.list",
            path: "/v1/runs",
            query: { agent, status: "finished", limit: lastRuns },
            signal,
          }),
    [agent],
  );
  const digests = (data?.runs ?? []).flatMap(({ digest }) => (digest === undefined ? [] : [digest]));
  return digests.length < 3 ? undefined : mediansOf(digests);
}
