import type { JSX } from "preact";
import type { Why } from "../state/api-types.ts";
import { useResource } from "../state/resource.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";

/** The service's own answer to "why was it slow, why did it fail?", asked again when the run ends. */
export function WhyLine({ run, ended }: { run: string; ended: boolean }): JSX.Element | null {
  const { data } = useResource(
    (signal) => client.value.request<Why>({ op: "run.why", path: `/v1/runs/${encodeURIComponent(run)}/why`, signal }),
    [run, ended],
  );
  if (data === undefined || !ended) return null;
  return (
    <p class="why">
      <span class="tag" title={printable(data.meaning)}>
        {printable(data.cause.replaceAll("_", " "))}
      </span>
      {printable(data.summary)}
    </p>
  );
}
