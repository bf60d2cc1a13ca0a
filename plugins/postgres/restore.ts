import { encodeEvent, type Recording } from "venturi/plugin";
import type { Ask } from "./database.ts";
import type { Statements } from "./sql.ts";

/** Puts a run in with everything it has, within a transaction. False when its id is taken or its session busy. */
export async function restore(ask: Ask, sql: Statements, recording: Recording): Promise<boolean> {
  const { run, session = null, request, signals, wires, events } = recording;
  const last = events.at(-1)?.type;
  const outcome = last === "run.finished" ? "finished" : last === "run.failed" ? "failed" : null;
  const state = outcome === null ? "waiting" : "done";
  const cancelled = signals.some(({ kind }) => kind === "cancel");
  const asked = [run, session, request.agent, JSON.stringify(request)];
  const [added] = await ask<{ id: string }>(sql.restore, [
    ...asked,
    state,
    outcome,
    events.length,
    signals.length,
    cancelled,
  ]);
  if (!added) return false;
  if (events.length > 0) {
    await ask(sql.restoreRecord, [added.id, events.length, events.map(encodeEvent).join("\n")]);
  }
  if (signals.length > 0) {
    const columns = [signals.map(({ id }) => id), signals.map(({ kind }) => kind), signals.map(toBody)];
    await ask(sql.restoreSignals, [added.id, ...columns]);
  }
  for (const { round, attempt, wire, bytes } of wires) {
    await ask(sql.keepWire, [run, round, attempt, wire, Buffer.from(bytes)]);
  }
  return true;
}

const toBody = ({ body }: Recording["signals"][number]): string => JSON.stringify(body);
