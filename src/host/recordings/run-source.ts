import type { RunSource } from "../../evals/dataset/cases.ts";
import type { Recordings } from "./recordings.ts";

/** The journal as the source of a dataset's runs. */
export const sourceOf = (recordings: Recordings): RunSource => ({
  now: Date.now(),
  get: (run) => recordings.journal.get(run),
  list: (query) => recordings.list(query),
  async export(run) {
    let text = "";
    for await (const line of recordings.export(run)) text += line;
    return text;
  },
});
