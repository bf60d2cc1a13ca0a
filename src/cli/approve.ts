import { createInterface } from "node:readline/promises";
import type { EventOf } from "../core/events.ts";

export interface Answer {
  readonly approved: boolean;
  readonly reason?: string;
}

/** Asks at the terminal. Without one nobody can answer, so the call is refused rather than left waiting. */
export async function askApproval(event: EventOf<"approval.requested">): Promise<Answer> {
  const { name, arguments: input, reason, origin } = event;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    return { approved: false, reason: "nobody is at the terminal to approve it" };
  }
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = new AbortController();
  // Readline takes Ctrl-C for itself; the run is to hear of it.
  ask.on("SIGINT", () => {
    interrupted.abort();
    process.emit("SIGINT");
  });
  try {
    const why = reason === undefined ? "" : ` (${reason})`;
    const whose = origin === undefined ? name : `${name} of the agent ${origin.agent}`;
    const answer = await ask.question(`\nMay ${whose} run with ${JSON.stringify(input)}?${why} [y/N] `, {
      signal: interrupted.signal,
    });
    return /^y(es)?$/i.test(answer.trim())
      ? { approved: true }
      : { approved: false, reason: "refused at the terminal" };
  } catch {
    return { approved: false, reason: "interrupted at the terminal" };
  } finally {
    ask.close();
  }
}
