import { type Signal, signal } from "@preact/signals";
import { client } from "./session.ts";

export interface Feedback {
  readonly score?: number;
  readonly label?: string;
  readonly comment?: string;
  readonly by: string;
  readonly seq?: number;
  readonly at: number;
}

const known = new Map<string, Signal<readonly Feedback[]>>();
const pathOf = (run: string): string => `/v1/runs/${encodeURIComponent(run)}/feedback`;

/** A run's feedback, read once while it is shown. */
export function feedbackOf(run: string): Signal<readonly Feedback[]> {
  const found = known.get(run);
  if (found !== undefined) return found;
  const all = signal<readonly Feedback[]>([]);
  known.set(run, all);
  if (known.size > 200) known.delete(known.keys().next().value ?? "");
  void read(run, all);
  return all;
}

async function read(run: string, into: Signal<readonly Feedback[]>): Promise<void> {
  const call = { op: "run.feedback", path: pathOf(run) };
  const { feedback } = await client.value
    .request<{ feedback: Feedback[] }>(call)
    .catch(() => ({ feedback: [] as Feedback[] })); // An older service has none.
  into.value = feedback;
}

export async function giveFeedback(
  run: string,
  given: { readonly score?: number; readonly label?: string; readonly comment?: string; readonly seq?: number },
): Promise<void> {
  await client.value.request({ op: "run.feedback", method: "POST", path: pathOf(run), body: given });
  await read(run, feedbackOf(run));
}
