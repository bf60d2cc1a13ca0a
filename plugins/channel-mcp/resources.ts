import { beginning, inputText, withCost } from "venturi/internal";
import { type RunRow, type Runs, terminalOf, VenturiError } from "venturi/plugin";
import type { Client } from "./revision.ts";
import { type Json, RpcError, rpcCodes, textParam } from "./rpc.ts";
import type { Serving } from "./serving.ts";

const pageSize = 50;
/** Maximum runs read for a session. */
const mostTurns = 100;

/** Runs that the caller's key may see, newest first, and the sessions they belong to. */
export async function listResources({ runs, may, published }: Serving, { cursor }: Json): Promise<Json> {
  const written = cursor === undefined ? published.resources : [];
  if (!may.see) return { resources: written };
  const page = await runs.list({ limit: pageSize, mayLag: true, ...(typeof cursor === "string" ? { cursor } : {}) });
  const sessions = new Set(page.runs.flatMap(({ session }) => session ?? []));
  const resources = [
    ...written,
    ...page.runs.map((row) => ({
      uri: runUri(row.run),
      name: row.run,
      title: beginning(inputText(row.request.input), 80),
      description: `A run of the agent ${row.agent}`,
      mimeType: "application/json",
      annotations: { lastModified: new Date(row.updatedAt).toISOString() },
    })),
    ...[...sessions].map((session) => ({
      uri: sessionUri(session),
      name: session,
      description: "A conversation",
      mimeType: "application/json",
    })),
  ];
  return { resources, ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) };
}

export const resourceTemplates: readonly Json[] = [
  { uriTemplate: "venturi://runs/{run}", name: "run", description: "A run", mimeType: "application/json" },
  {
    uriTemplate: "venturi://sessions/{session}",
    name: "session",
    description: "A conversation: its runs, oldest first",
    mimeType: "application/json",
  },
];

export async function readResource({ runs, client, published }: Serving, params: Json): Promise<Json> {
  const uri = textParam(params, "uri");
  const written = await published.read(uri);
  if (written !== undefined) return { contents: [written] };
  const run = runOf(uri);
  const session = nameIn(uri, "sessions");
  try {
    if (run === undefined && session === undefined) throw notFound(client, uri);
    const value = run === undefined ? await sessionOf(runs, session ?? "") : await viewOf(runs, await runs.get(run));
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(value, null, 2) }] };
  } catch (thrown) {
    if (VenturiError.is(thrown, "not_found")) throw notFound(client, uri);
    throw thrown;
  }
}

async function sessionOf(runs: Runs, session: string): Promise<Json> {
  const { runs: rows } = await runs.list({ session, oldestFirst: true, limit: mostTurns });
  if (rows.length === 0) throw new VenturiError("session.get", "not_found", `there is no session "${session}"`);
  const turns: Json[] = [];
  for (const row of rows) turns.push(await viewOf(runs, row));
  return { session, runs: turns };
}

async function viewOf(runs: Runs, row: RunRow): Promise<Json> {
  const { run, agent, session, createdAt, updatedAt } = row;
  const last =
    row.state === "done"
      ? await terminalOf(runs.follow(run, { after: Math.max(0, row.head - 1), passive: true }))
      : undefined;
  const ending =
    last === undefined
      ? { status: row.asking > 0 ? "waiting" : row.state }
      : last.type === "run.finished"
        ? { status: "finished", finish: last.finish, output: last.output, usage: withCost(last.usage, last) }
        : { status: "failed", error: last.error, output: last.output, usage: withCost(last.usage, last) };
  return { run, agent, session, createdAt, updatedAt, asked: inputText(row.request.input), ...ending };
}

export const runOf = (uri: string): string | undefined => nameIn(uri, "runs");

function nameIn(uri: string, kind: "runs" | "sessions"): string | undefined {
  const start = `venturi://${kind}/`;
  const name = uri.startsWith(start) ? uri.slice(start.length) : "";
  try {
    return name === "" || name.includes("/") ? undefined : decodeURIComponent(name);
  } catch {
    return undefined; // A malformed percent escape.
  }
}

const runUri = (run: string): string => `venturi://runs/${encodeURIComponent(run)}`;
const sessionUri = (session: string): string => `venturi://sessions/${encodeURIComponent(session)}`;

const notFound = ({ era }: Client, uri: string): RpcError =>
  new RpcError(era === "modern" ? rpcCodes.invalidParams : rpcCodes.resourceNotFound, `there is no resource ${uri}`, {
    data: { uri },
  });
