import type { RunRow } from "../../core/journal.ts";
import type { Runs } from "../../core/runs.ts";
import { type KeyHolder, permit } from "../http/auth.ts";
import type { Admission } from "./admission.ts";

/**
 * The runs as one caller may see and start them. `charge` counts a start against the caller's rate and rejects with
 * `rate_limited`.
 */
export function callerRuns(
  runs: Runs,
  caller: KeyHolder,
  admit: { admission: Admission; charge(): Promise<void> },
): Runs {
  const permitted = async (run: string): Promise<RunRow> => {
    const row = await runs.get(run);
    permit(caller, row.agent);
    return row;
  };
  return {
    async start(request, options = {}) {
      permit(caller, request.agent);
      await admit.charge();
      const place = await admit.admission.reserve(caller);
      try {
        const key = options.key === undefined ? {} : { key: `${caller.id}:${options.key}` };
        const started = await runs.start(request, { ...options, ...key });
        place.bind(started.run);
        return started;
      } catch (thrown) {
        place.release();
        throw thrown;
      }
    },
    // Who may see everything gets the events without another hand in between.
    follow: (run, options) =>
      caller.agents === undefined
        ? runs.follow(run, options)
        : afterCheck(() => permitted(run), runs.follow(run, options)),
    get: permitted,
    async list(query) {
      if (query.agent !== undefined) permit(caller, query.agent);
      const page = await runs.list(query);
      return { ...page, runs: page.runs.filter((row) => caller.agents?.includes(row.agent) ?? true) };
    },
    async cancel(run, reason) {
      await permitted(run);
      await runs.cancel(run, reason);
    },
    async signal(run, kind, body, id) {
      await permitted(run);
      return await runs.signal(run, kind, body, id);
    },
    async content(run, hash) {
      await permitted(run);
      return await runs.content(run, hash);
    },
    agents: () => runs.agents().filter((agent) => caller.agents?.includes(agent.name) ?? true),
  };
}

async function* afterCheck<T>(check: () => Promise<unknown>, items: AsyncIterable<T>): AsyncGenerator<T> {
  await check();
  yield* items;
}
