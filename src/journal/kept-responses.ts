import type { KeyValues } from "../core/journal/key-values.ts";

/** Answers of the response cache, by the hash of their request. */
const space = "responses";
/** Which answers a run has left there, as `run/hash`, so that they are erased with it. */
const byRun = "responses-by-run";

export interface KeptResponse {
  readonly run: string;
  readonly key: string;
}

/** Replaces what is kept under the key. */
export async function keepResponse(values: KeyValues, { run, key }: KeptResponse, value: string): Promise<void> {
  // First, so that no answer is left that its run does not know of.
  await values.put(byRun, { key: `${run}/${key}`, value: "", version: 0 });
  const before = await values.get(space, key);
  await values.put(space, { key, value, version: before?.version ?? 0 });
}

export const findResponse = async (values: KeyValues, key: string): Promise<string | undefined> =>
  (await values.get(space, key))?.value;

/** Removes a few expired answers: those of the oldest runs, and some after a random key, since old entries name no run. */
export async function sweepResponses(
  values: KeyValues,
  after: string,
  over: (value: string) => boolean,
): Promise<void> {
  for (const { key, value, version } of await values.list(space, { after, limit: 4 }))
    if (over(value)) await values.remove(space, key, version);
  for (const { key, version } of await values.list(byRun, { limit: 4 })) {
    const kept = await values.get(space, hashIn(key));
    if (kept !== undefined && !over(kept.value)) continue;
    if (kept !== undefined) await values.remove(space, kept.key, kept.version);
    await values.remove(byRun, key, version);
  }
}

/** Erases the answers that a run has left. */
export async function forgetResponses(values: KeyValues, run: string): Promise<void> {
  for (;;) {
    const page = await values.list(byRun, { prefix: `${run}/` });
    if (page.length === 0) return;
    for (const { key, version } of page) {
      const kept = await values.get(space, hashIn(key));
      if (kept !== undefined) await values.remove(space, kept.key, kept.version);
      await values.remove(byRun, key, version);
    }
  }
}

const hashIn = (key: string): string => key.slice(key.indexOf("/") + 1);
