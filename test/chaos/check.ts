import { readFileSync } from "node:fs";
import { encodeEvent, type RunEvent } from "../../src/core/events.ts";
import type { Journal } from "../../src/core/journal.ts";
import type { ClientReport } from "./client.ts";

/** What stands in the journal against what the client was shown, and against what the tools did. */
export async function checkRun(journal: Journal, report: ClientReport, epochs: readonly number[]): Promise<string[]> {
  const { run, events } = report;
  const violations = [...report.violations];
  const stored = await journal.read(run, 0, 100_000);
  const terminal = stored.filter((event) => event.type === "run.finished" || event.type === "run.failed");
  if (terminal.length !== 1) violations.push(`${run}: ${terminal.length} terminal events`);
  if (stored.length > 0 && stored.at(-1) !== terminal[0]) violations.push(`${run}: the terminal event is not the last`);
  stored.forEach((event, index) => {
    if (event.seq !== index + 1) violations.push(`${run}: seq ${event.seq} is stored at ${index + 1}`);
  });
  events.forEach((event, index) => {
    const there = stored[index];
    if (!there || encodeEvent(there) !== encodeEvent(event)) {
      violations.push(
        `${run}: event ${index + 1} was shown (${event.type}) but is not what is stored (${there?.type})`,
      );
    }
  });
  epochs.forEach((epoch, index) => {
    const before = epochs[index - 1] ?? 0;
    if (epoch < before) violations.push(`${run}: an event of the fenced epoch ${epoch} after one of epoch ${before}`);
  });
  violations.push(...checkText(run, stored), ...checkEnd(run, terminal[0]));
  return violations;
}

/** The answer is the text of the last round's last attempt: nothing retracted, nothing twice, nothing missing. */
function checkText(run: string, events: readonly RunEvent[]): string[] {
  const last = events.at(-1);
  if (last?.type !== "run.finished") return [];
  let text = "";
  for (const event of events) {
    if (event.type === "round.started" || event.type === "round.retracted") text = "";
    if (event.type === "text.delta") text += event.text;
  }
  return text === last.output || last.output.endsWith(text) ? [] : [`${run}: the deltas do not add up to the output`];
}

function checkEnd(run: string, last: RunEvent | undefined): string[] {
  return last?.type === "run.failed" ? [`${run}: failed with ${last.error.code}: ${last.error.err}`] : [];
}

/** Effectful tools that ran more often than they were allowed to: once, and once more for each time someone was asked. */
export function checkEffects(file: string, reports: readonly ClientReport[]): string[] {
  const asked = new Map<string, number>();
  for (const { run, events } of reports) {
    for (const event of events) {
      if (event.type !== "approval.requested") continue;
      const key = `${event.name} ${run} ${event.call}`;
      asked.set(key, (asked.get(key) ?? (event.name === "refund" ? -1 : 0)) + 1);
    }
  }
  const done = new Map<string, number>();
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) done.set(line, (done.get(line) ?? 0) + 1);
  const violations: string[] = [];
  for (const [key, times] of done) {
    const allowed = 1 + (asked.get(key) ?? 0);
    if (!key.startsWith("look ") && times > allowed) violations.push(`${key}: ran ${times} times, ${allowed} allowed`);
  }
  return violations;
}
