import type { RunEvent } from "../../src/core/run/events.ts";
import { readSse } from "../sse.ts";

/** Starts a run and answers its id. */
export async function startRun(url: string, text: string): Promise<string> {
  const answer = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ agent: "shop", input: { text } }),
  });
  const run = answer.headers.get("x-venturi-run");
  if (run === null) throw new Error(`${answer.status}: ${await answer.text()}`);
  return run;
}

/** The events of one connection after `after`, as they come, until it ends or is left. */
export async function* eventsOf(url: string, run: string, after = 0): AsyncGenerator<RunEvent> {
  const abort = new AbortController();
  try {
    const answer = await fetch(`${url}/v1/runs/${run}/events`, {
      headers: { accept: "text/event-stream", ...(after === 0 ? {} : { "last-event-id": `${after}` }) },
      signal: abort.signal,
    });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    for await (const { data } of readSse(answer.body)) {
      const event = JSON.parse(data) as RunEvent; // what the service sends
      if (event.seq !== undefined) yield event; // a heartbeat has none
    }
  } finally {
    abort.abort();
  }
}
