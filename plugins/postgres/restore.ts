import { endOfRun, outcomeOf, questionsOpened } from "venturi/internal";
import { encodeEvent, isTerminal, type Recording } from "venturi/plugin";
import type { Ask } from "./database.ts";
import { toDigest } from "./rows.ts";
import type { Statements } from "./sql.ts";

/** Events per record: a page of a long run is read without the rest of it. */
const recordSize = 256;

/** Inserts a complete run within a transaction. False when its id is taken or its session busy. */
export async function restore(
  ask: Ask,
  { sql, search }: { sql: Statements; search: "text" | "none" },
  recording: Recording,
): Promise<boolean> {
  const { run, tenant, session = null, request, signals, wires, events } = recording;
  const last = events.at(-1);
  const outcome = last !== undefined && isTerminal(last) ? outcomeOf(last) : null;
  const state = outcome === null ? (recording.state ?? "waiting") : "done";
  const cancelled = signals.some(({ kind }) => kind === "cancel");
  const asked = [run, session, request.agent, JSON.stringify(request)];
  const [added] = await ask<{ id: string }>(sql.restore, [
    ...asked,
    state,
    outcome,
    events.length,
    signals.length,
    cancelled,
    tenant,
    request.revision ?? null,
    request.caller?.id ?? null,
    questionsOpened(events),
  ]);
  if (!added) return false;
  for (let base = 0; base < events.length; base += recordSize) {
    const slice = events.slice(base, base + recordSize);
    await ask(sql.restoreRecord, [added.id, base + 1, base + slice.length, slice.map(encodeEvent).join("\n")]);
  }
  if (signals.length > 0) {
    const columns = [signals.map(({ id }) => id), signals.map(({ kind }) => kind), signals.map(toBody)];
    await ask(sql.restoreSignals, [added.id, ...columns]);
  }
  for (const { round, attempt, wire, bytes } of wires) {
    await ask(sql.keepWire, [run, round, attempt, wire, Buffer.from(bytes)]);
  }
  const end = endOfRun({ run, request }, events);
  if (end !== undefined) await ask(sql.keepDigest, [run, JSON.stringify(toDigest(end, search))]);
  return true;
}

const toBody = ({ body }: Recording["signals"][number]): string => JSON.stringify(body);
