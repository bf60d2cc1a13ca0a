import { type EventOf, isTerminal, type TerminalEvent } from "../core/events.ts";
import type { RunRequest } from "../core/journal.ts";
import type { Runs } from "../core/runs.ts";
import type { Printer } from "./printer.ts";

export interface Watch {
  readonly runs: Runs;
  readonly printer: Printer;
  /** Called when a tool needs approval; without a terminal it is refused. */
  readonly approve: (event: EventOf<"approval.requested">) => Promise<{ approved: boolean; reason?: string }>;
}

/** Starts a run and prints it. Ctrl-C cancels the run; a second one exits immediately. */
export async function watchRun({ runs, printer, approve }: Watch, request: RunRequest): Promise<TerminalEvent> {
  const { run } = await runs.start(request, { paced: false });
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
        if (event.type === "approval.requested") {
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
