import { VenturiError } from "../core/errors/errors.ts";
import type { Runs } from "../core/ports/runs.ts";
import { metadataText } from "../core/run/list-query.ts";
import type { RunRow } from "../core/run/run-row.ts";

/** How many of the newest runs are searched in a journal that cannot search metadata. */
const searched = 200;

/** The newest run with this metadata. Any replica finds it, even after a restart. */
export async function newestWith(
  runs: Runs,
  metadata: Readonly<Record<string, string>>,
  within: { readonly agent?: string } = {},
): Promise<RunRow | undefined> {
  try {
    return (await runs.list({ ...within, metadata, limit: 1 })).runs[0];
  } catch (thrown) {
    if (!VenturiError.is(thrown, "invalid_input")) throw thrown;
    const wanted = Object.entries(metadata);
    const { runs: rows } = await runs.list({ ...within, limit: searched });
    return rows.find(({ request }) =>
      wanted.every(([name, value]) => metadataText(request.metadata?.[name]) === value),
    );
  }
}
