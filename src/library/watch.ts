import { messageOf } from "../core/errors/errors.ts";
import type { Log } from "../core/ports/log.ts";
import type { Runs } from "../core/ports/runs.ts";
import { type PendingQuestion, pendingOf } from "../core/run/questions.ts";
import type { Calls } from "./hooks.ts";
import { batches } from "./reading.ts";
import type { Run, Verdict } from "./run.ts";

interface Watched {
  readonly runs: Runs;
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: typed by the agent, where it is given
  readonly onApproval: ((asked: any) => Verdict | Promise<Verdict>) | undefined;
  readonly onQuestion: ((asked: PendingQuestion) => unknown) | undefined;
}

/**
 * Cancels the run with the caller's signal and answers its questions until it ends. The listener is removed with the run, since a server's
 * long-lived signal would accumulate them.
 */
export function watch(run: Run<unknown, Calls>, { runs, log, signal, onApproval, onQuestion }: Watched): void {
  if (signal === undefined && onApproval === undefined && onQuestion === undefined) return;
  const warn = (what: string) => (thrown: unknown) => log.warn(what, { run: run.id, error: messageOf(thrown) });
  const cancel = () => void run.cancel("the program's signal was aborted").catch(warn("a run could not be cancelled"));
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel(); // The signal aborted while the run was being started.
  const follow = async () => {
    for await (const batch of batches(runs, run.id, { passive: true, channel: "library" })) {
      for (const event of batch) {
        if (event.type === "approval.requested" && onApproval !== undefined) {
          void answer(run, event, onApproval).catch(warn("onApproval threw; the question waits for another answer"));
        }
        if (event.type === "question.asked" && onQuestion !== undefined) {
          const told = async () => {
            const given = await onQuestion(pendingOf(event));
            if (given !== undefined) await run.answer(event.call, given);
          };
          void told().catch(warn("the answer of onQuestion was not taken; the question waits for another"));
        }
      }
    }
  };
  follow()
    .catch(warn("a run could not be watched"))
    .finally(() => signal?.removeEventListener("abort", cancel));
}

async function answer(
  run: Run<unknown, Calls>,
  { call, name, arguments: input, reason }: { call: string; name: string; arguments: unknown; reason?: string },
  onApproval: NonNullable<Watched["onApproval"]>,
): Promise<void> {
  const asked = { call, name, arguments: input, ...(reason === undefined ? {} : { reason }) };
  const verdict = await onApproval(asked);
  if (verdict === undefined) return;
  const { approved, ...rest } = typeof verdict === "boolean" ? { approved: verdict } : verdict;
  if (approved) await run.approve(call, rest);
  else await run.deny(call, rest);
}
