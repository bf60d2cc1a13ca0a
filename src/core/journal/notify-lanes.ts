import type { KeyValues } from "./key-values.ts";

/** Key space in which the channel `time` stores the progress of deliveries to webhooks. */
export const notifySpace = "webhooks";
export const laneKey = (webhook: string, run: string): string => `lane/${webhook}/${run}`;

/** Where to send a run's notifications, if not to the webhook's own URL. */
export interface Notified {
  readonly url?: string;
  /** Sent with each delivery. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes a webhook with `runs: notify` report this run from now on, or change where. False when another replica was faster. */
export async function notifyOf(
  values: KeyValues,
  { webhook, run, ...where }: Notified & { readonly webhook: string; readonly run: string; readonly tenant: string },
): Promise<boolean> {
  const key = laneKey(webhook, run);
  const found = await values.get(notifySpace, key);
  // `passed`: the cursor over all runs must not start this one again.
  const lane = found === undefined ? { webhook, run, place: 0, attempts: 0, passed: true } : JSON.parse(found.value);
  const value = JSON.stringify({ ...lane, ...where });
  return (await values.put(notifySpace, { key, value, version: found?.version ?? 0 })) !== undefined;
}

export async function notifiedOf(values: KeyValues, webhook: string, run: string): Promise<Notified | undefined> {
  const found = await values.get(notifySpace, laneKey(webhook, run));
  return found && (JSON.parse(found.value) as Notified); // A lane.
}

export async function endNotifying(values: KeyValues, webhook: string, run: string): Promise<void> {
  const found = await values.get(notifySpace, laneKey(webhook, run));
  if (found !== undefined) await values.remove(notifySpace, found.key, found.version);
}
