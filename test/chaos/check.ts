import { readFileSync } from "node:fs";
import type { Journal } from "../../src/core/journal/journal.ts";
import { encodeEvent } from "../../src/core/run/encode-event.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { ClientReport } from "./client.ts";
import type { Engine, Ownership } from "./engines.ts";

export interface Checked {
  readonly violations: readonly string[];
  /** Runs that more than one worker executed. */
  readonly takenOver: number;
}

/** All that clients saw, against the journal and the effects of the tools. */
export async function checkAll(engine: Engine, reports: readonly ClientReport[], effects: string): Promise<Checked> {
  const journal = await engine.open();
  const violations: string[] = [];
  let takenOver = 0;
  for (const report of reports) {
    const ownership = await engine.ownership(report.run);
    if (new Set(ownership.records.map(({ epoch }) => epoch)).size > 1) takenOver += 1;
    violations.push(...(await checkRun(journal, report, ownership)));
  }
  await journal.close();
  return { violations: [...violations, ...checkEffects(effects, reports)], takenOver };
}

/** What stands in the journal against what the client was shown, and against what the tools did. */
export async function checkRun(journal: Journal, report: ClientReport, ownership: Ownership): Promise<string[]> {
  const { run, events } = report;
  const violations = [...report.violations];
  const stored = await journal.read(run, 0, 100_000);
  const terminal = stored.filter((event) => event.type === "run.finished" || event.type === "run.failed");
  if (terminal.length !== 1) violations.push(`${run}: ${terminal.length} terminal events`);
  if (stored.length > 0 && stored.at(-1) !== terminal[0]) violations.push(`${run}: the terminal event is not the last`);
  // Only the first of each kind is reported: the rest follows from it.
  const gap = stored.findIndex((event, index) => event.seq !== index + 1);
  if (gap >= 0) violations.push(`${run}: seq ${stored[gap]?.seq} is stored at ${gap + 1}`);
  const other = events.findIndex((event, index) => {
    const there = stored[index];
    return !there || encodeEvent(there) !== encodeEvent(event);
  });
  if (other >= 0) violations.push(`${run}: event ${other + 1} was shown but is not what is stored`);
  violations.push(...checkOwners(run, ownership), ...checkText(run, stored), ...checkEnd(run, terminal[0]));
  return violations;
}

/** Past the place where an epoch began nothing may stand that an earlier one wrote, whether the later one wrote or not. */
function checkOwners(run: string, { records, claims }: Ownership): string[] {
  for (const { first, epoch } of records) {
    const later = claims.find((claim) => claim.epoch > epoch && claim.head < first);
    if (later) return [`${run}: event ${first} is of epoch ${epoch}, fenced at ${later.head} by ${later.epoch}`];
  }
  return [];
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
