import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { ServerSettings } from "./config/server.ts";

export interface Finding {
  readonly what: string;
  /** `note`: worth knowing, not a failure. */
  readonly status: "good" | "note" | "bad";
  readonly found: string;
}

const State = z.object({
  number: z.number(),
  pid: z.number(),
  status: z.string(),
  restarts: z.number(),
  startedAt: z.number(),
});
const States = z.object({ processes: z.array(State) });
/** Of a service that takes runs, and of one that does not. */
const Answer = z.union([
  States.transform(({ processes }) => processes),
  z.object({ error: z.object({ details: States }) }).transform(({ error }) => error.details.processes),
]);

/** How many processes `start` would launch. */
export function plannedProcesses(processes: number): Finding[] {
  const processors = availableParallelism();
  const found = `${processes} of the service on ${processors} processor${processors === 1 ? "" : "s"}`;
  return [{ what: "processes", status: processes > processors ? "note" : "good", found }];
}

/** The state of each process of a running service, from its `/readyz`. */
export async function runningProcesses({
  listen,
  hosts,
}: Pick<ServerSettings, "listen" | "hosts">): Promise<Finding[]> {
  const address = listen.host === "0.0.0.0" ? "127.0.0.1" : listen.host === "::" ? "::1" : listen.host;
  try {
    const answer = await answerOf({ host: address, port: listen.port, name: hosts?.[0] });
    const { data } = Answer.safeParse(JSON.parse(answer));
    return data?.map((each) => findingOf(each)) ?? [];
  } catch {
    return []; // Not Venturi, or a service with a single process.
  }
}

/** Sends a Host header the service accepts, which `fetch` does not allow to set. */
async function answerOf({
  host,
  port,
  name,
}: {
  host: string;
  port: number;
  name: string | undefined;
}): Promise<string> {
  const headers = name === undefined ? {} : { host: name };
  const sent = get({ host, port, path: "/readyz", headers, signal: AbortSignal.timeout(3_000) });
  const [response] = (await once(sent, "response")) as [IncomingMessage]; // As documented for node:http.
  return await text(response);
}

function findingOf(state: z.output<typeof State>): Finding {
  const { number, pid, status, restarts, startedAt } = state;
  const since = new Date(startedAt).toISOString().slice(0, 19);
  const times = restarts === 0 ? "" : `, replaced ${restarts} time${restarts === 1 ? "" : "s"}`;
  const found = `pid ${pid}, ${status.replace("_", " ")} since ${since}Z${times}`;
  return { what: `process ${number}`, status: status === "ready" ? "good" : "note", found };
}
