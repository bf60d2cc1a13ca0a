import { messageOf, wrap } from "../core/errors/errors.ts";
import type { Runs } from "../core/ports/runs.ts";
import { isTerminal, type TerminalEvent } from "../core/run/events.ts";
import { type AskedEvent, isAnswered, isAsked } from "../core/run/questions.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import type { Printer } from "./printer.ts";
import { show } from "./screen.ts";

export interface Watch {
  readonly runs: Runs;
  readonly printer: Printer;
  /** Asks a person; without a terminal the call is refused. `closed` aborts when somebody else answers or time runs out. */
  readonly approve: (
    event: AskedEvent,
    closed: AbortSignal,
  ) => Promise<{ approved: boolean; reason?: string; answer?: unknown }>;
}

/** Starts a run and prints it. */
export async function watchRun(watch: Watch, request: RunRequest): Promise<TerminalEvent> {
  const { run } = await watch.runs.start(request, { paced: false });
  return await watchStarted(watch, run);
}

/** Signals that end a command, and its exit status. */
const endings = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Ending = keyof typeof endings;

/** Prints a run from its start. Ctrl-C, or another signal that ends the command, cancels the run; a second one exits immediately. */
export async function watchStarted({ runs, printer, approve }: Watch, run: string): Promise<TerminalEvent> {
  let stopping = false;
  const onSignal = (signal?: Ending) => {
    // Without a name it is our own. A closed terminal sends SIGHUP and fails writes, in either order.
    if (stopping && signal !== undefined && signal !== "SIGHUP") process.exit(endings[signal]);
    if (stopping) return;
    stopping = true;
    if (signal !== undefined && signal !== "SIGINT") {
      process.once("exit", () => {
        process.exitCode = endings[signal];
      });
    }
    runs.cancel(run, "interrupted at the terminal").catch(() => process.exit(1));
  };
  /** Asks again if the answer does not fit. */
  const ask = async (event: AskedEvent, closed: AbortSignal): Promise<void> => {
    for (;;) {
      const body = { call: event.call, by: "terminal", ...(await approve(event, closed)) };
      try {
        const taken = !closed.aborted && (await runs.signal(run, "approve", body, `approve:${event.call}`));
        if (!taken && !stopping) show(process.stderr, tooLate);
        return;
      } catch (thrown) {
        if (!body.approved || wrap("cli.run", thrown).code !== "invalid_input") throw thrown;
        show(process.stderr, `${messageOf(thrown)}\n`);
      }
    }
  };
  for (const signal of Object.keys(endings)) process.on(signal, onSignal);
  try {
    for await (const batch of runs.follow(run, { channel: "cli" })) {
      for (const event of batch) {
        printer.print(event);
        if (isTerminal(event)) return event;
        if (isAsked(event) && (await isOpen(runs, event))) await untilSettled(runs, event, ask);
      }
    }
  } finally {
    for (const signal of Object.keys(endings)) process.off(signal, onSignal);
  }
  throw new Error("the run's events ended without its end");
}

const tooLate = "\nthis needs no answer any more: somebody else answered, or the time is up\n";

/** Asks, and watches meanwhile whether the question is closed in another way. */
async function untilSettled(
  runs: Runs,
  event: AskedEvent,
  ask: (event: AskedEvent, closed: AbortSignal) => Promise<void>,
): Promise<void> {
  const closed = new AbortController();
  const asked = new AbortController();
  const watch = async () => {
    const from = { after: event.seq, passive: true, signal: asked.signal };
    for await (const batch of runs.follow(event.run, from)) {
      if (batch.some((next) => isTerminal(next) || (isAnswered(next) && next.call === event.call))) break;
    }
    closed.abort();
  };
  const watching = watch().catch(() => {}); // The follower that prints reports the error.
  try {
    await ask(event, closed.signal);
  } finally {
    asked.abort();
    await watching;
  }
}

/** A forked run begins with questions that were answered in the original. */
const isOpen = async (runs: Runs, { run, call }: AskedEvent): Promise<boolean> =>
  (await runs.pending(run)).some((question) => question.call === call);
