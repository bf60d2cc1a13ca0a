import type { Journal } from "../../core/journal.ts";

const page = 1_000;

/**
 * How often a run has asked about a call. An answer is to one question: a call found unfinished after a crash is asked about
 * again, and the answer to that must not be taken for a repetition of the first.
 */
export async function approvalsRequested(journal: Journal, run: string, call: string): Promise<number> {
  let count = 0;
  let after = 0;
  for (;;) {
    const events = await journal.read(run, after, page);
    for (const event of events) if (event.type === "approval.requested" && event.call === call) count += 1;
    after += events.length;
    if (events.length < page) return count;
  }
}
