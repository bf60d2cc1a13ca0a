import type { Runs } from "../core/ports/runs.ts";
import { type EventOf, isTerminal, type TerminalEvent } from "../core/run/events.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import type { Printer } from "./printer.ts";

export interface Watch {
  readonly runs: Runs;
  readonly printer: Printer;
  /** Called when a tool needs approval; without a terminal it is refused. */
  readonly approve: (event: EventOf<"approval.requested">) => Promise<{ approved: boolean; reason?: string }>;
}

/** Starts a run and prints it. */
export async function watchRun(watch: Watch, request: RunRequest): Promise<TerminalEvent> {
  const { run } = await watch.runs.start(request, { paced: false });
  return await watchStarted(watch, run);
}

/** Prints a run from its start. Ctrl-C cancels the run; a second one exits immediately. */
export async function watchStarted({ runs, printer, approve }: Watch, run: string): Promise<TerminalEvent> {
  let stopping = false;
  const onInterrupt = () => {
    if (stopping) process.exit(130);
    stopping = true;
    runs.cancel(run, "interrupted at the terminal").catch(() => process.exit(1));
  };
  process.on("SIGINT", onInterrupt);
  try {
    for await (const batch of runs.follow(run, { channel: "cli" })) {
      for (const event of batch) {
        printer.print(event);
        if (isTerminal(event)) return event;
        if (event.type === "approval.requested" && (await isOpen(runs, event))) {
          const answer = await approve(event);
          await runs.signal(run, "approve", { call: event.call, by: "terminal", ...answer }, `approve:${event.call}`);
        }
      }
    }
  } finally {
    process.off("SIGINT", onInterrupt);
  }
  throw new Error("the run's events ended without its end");
}

/** A forked run begins with questions that were answered in the original. */
const isOpen = async (runs: Runs, { run, call }: EventOf<"approval.requested">): Promise<boolean> =>
  (await runs.pending(run)).some((question) => question.call === call);
