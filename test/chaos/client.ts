import { randomUUID } from "node:crypto";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { Random } from "./random.ts";

export interface ClientReport {
  readonly run: string;
  readonly text: string;
  readonly events: RunEvent[];
  readonly reconnects: number;
  readonly violations: string[];
}

const silence = 2_500;

/** A client that starts a run, loses its connection at random, and goes on at any replica by Last-Event-ID. */
export async function follow(
  urls: readonly string[],
  text: string,
  random: Random,
  deadline: number,
): Promise<ClientReport> {
  const violations: string[] = [];
  const run = await start(urls, text, random, deadline);
  const events: RunEvent[] = [];
  const approved = new Set<string>();
  let reconnects = -1;
  while (!isOver(events)) {
    reconnects += 1;
    if (Date.now() > deadline) {
      violations.push(`${run}: no terminal event in time (${events.length} events, ${text})`);
      break;
    }
    const most = random.next() < 0.5 ? random.between(1, 25) : Number.POSITIVE_INFINITY;
    try {
      await read(random.pick(urls), run, events, { most, violations });
    } catch {
      await pause(50);
    }
    for (const event of events) {
      if (event.type !== "approval.requested" || approved.has(`${event.call} ${event.seq}`)) continue;
      if (await approve(random.pick(urls), run, event.call)) approved.add(`${event.call} ${event.seq}`);
    }
  }
  return { run, text, events, reconnects, violations };
}

const isOver = (events: readonly RunEvent[]): boolean => {
  const last = events.at(-1)?.type;
  return last === "run.finished" || last === "run.failed";
};

/** Tries until some replica has taken it; the key makes all tries one run. */
async function start(urls: readonly string[], text: string, random: Random, deadline: number): Promise<string> {
  const key = randomUUID();
  for (;;) {
    try {
      const answer = await fetch(`${random.pick(urls)}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key, prefer: "respond-async" },
        body: JSON.stringify({ agent: "shop", input: { text } }),
        signal: AbortSignal.timeout(4_000),
      });
      const run = answer.headers.get("x-venturi-run");
      if (answer.ok && run !== null) return run;
    } catch {
      // the replica is down, frozen or cut off; another will do
    }
    if (Date.now() > deadline) throw new Error("no replica took the run in time");
    await pause(100);
  }
}

/** Reads one connection's worth of events, checking each against what is there already. */
async function read(
  url: string,
  run: string,
  events: RunEvent[],
  { most, violations }: { most: number; violations: string[] },
): Promise<void> {
  const abort = new AbortController();
  let idle = setTimeout(() => abort.abort(), silence);
  const asked = events.some((event) => event.type === "approval.requested");
  try {
    const answer = await fetch(`${url}/v1/runs/${run}/events`, {
      headers: { accept: "text/event-stream", ...(events.length === 0 ? {} : { "last-event-id": `${events.length}` }) },
      signal: abort.signal,
    });
    if (!answer.ok || answer.body === null) return await pause(100);
    let rest = "";
    let count = 0;
    const decoder = new TextDecoder();
    for await (const bytes of answer.body) {
      clearTimeout(idle);
      idle = setTimeout(() => abort.abort(), silence);
      rest += decoder.decode(bytes, { stream: true });
      const frames = rest.split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const event = eventOf(frame);
        if (event === undefined) continue;
        check(run, event, events, violations);
        events.push(event);
        if (++count >= most || (event.type === "approval.requested" && !asked)) return;
      }
    }
  } finally {
    clearTimeout(idle);
    abort.abort();
  }
}

function eventOf(frame: string): RunEvent | undefined {
  if (!frame.includes("id: ")) return undefined; // a heartbeat
  for (const line of frame.split("\n")) {
    if (line.startsWith("data: ")) return JSON.parse(line.slice(6)) as RunEvent; // what the service sends
  }
  return undefined;
}

function check(run: string, event: RunEvent, events: readonly RunEvent[], violations: string[]): void {
  if (event.run !== run) violations.push(`${run}: an event of ${event.run}`);
  if (event.seq !== events.length + 1) violations.push(`${run}: seq ${event.seq} after ${events.length}`);
  if (isOver(events)) violations.push(`${run}: ${event.type} after the end`);
}

async function approve(url: string, run: string, call: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/v1/runs/${run}/approvals/${encodeURIComponent(call)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ approved: true }),
      signal: AbortSignal.timeout(3_000),
    });
    return answer.ok || answer.status === 409;
  } catch {
    return false;
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
