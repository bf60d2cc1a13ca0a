import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf, VenturiError } from "venturi/plugin";
import { deliver } from "./delivery.ts";
import { disturb } from "./disturb.ts";
import type { Listener } from "./listener.ts";
import { describe } from "./listing.ts";
import { pause } from "./pause.ts";
import type { RequestLog, SimulatedRequest } from "./requests.ts";
import type { Decision, Simulation } from "./simulation.ts";
import type { Route, Wire } from "./wire.ts";
import { anthropic } from "./wires/anthropic.ts";
import { gemini } from "./wires/gemini.ts";
import { ollama } from "./wires/ollama.ts";
import { openai } from "./wires/openai.ts";
import { openaiResponses } from "./wires/openai-responses.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Parts {
  readonly simulation: Simulation;
  readonly requests: RequestLog;
  readonly listener: Listener;
}

const wires: readonly Wire[] = [openai, openaiResponses, anthropic, gemini, ollama];
const maxBody = 64 * 1024 * 1024;

/** What the server does with a request. Whatever is wrong with one is told to its client and to nobody else. */
export function handlerOf(parts: Parts): Handler {
  return (request, response) => {
    const ending = { byServer: false };
    const entry = parts.requests.open(request, response, () => ending.byServer || parts.listener.closed);
    const served = { ...parts, request, response, entry, ending };
    serve(served).catch((thrown: unknown) => {
      const failure = { status: thrown instanceof VenturiError ? thrown.status : 400, message: messageOf(thrown) };
      if (response.headersSent) return response.destroy();
      const wire = wires.find((candidate) => candidate.name === entry.wire) ?? openai;
      return sendJson(served, { status: failure.status, body: wire.failure(failure) });
    });
  };
}

interface Served extends Parts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: SimulatedRequest;
  /** Set before the simulator itself breaks the connection off. */
  readonly ending: { byServer: boolean };
}

async function serve(served: Served): Promise<void> {
  const { request, entry } = served;
  const url = new URL(`http://simulator${request.url ?? "/"}`);
  const found = routed(url);
  if (request.method !== "POST" || found === undefined) {
    return sendJson(served, describe(request.method ?? "GET", url.pathname));
  }
  const { wire, route } = found;
  entry.wire = wire.name;
  const text = await readBody(request);
  entry.body = JSON.parse(text);
  const decision = served.simulation.decide(wire.read(entry.body, route), request.headers, text);
  entry.model = decision.prompt.model;
  await answer(served, { wire, route, decision });
}

function routed(url: URL): { wire: Wire; route: Route } | undefined {
  for (const wire of wires) {
    const route = wire.route(url.pathname, url.searchParams);
    if (route !== undefined) return { wire, route };
  }
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part);
    size += part.length;
    if (size > maxBody) throw new VenturiError("simulator.read", "too_large", `the body is over ${maxBody} bytes`);
  }
  return Buffer.concat(parts).toString();
}

interface Task {
  readonly wire: Wire;
  readonly route: Route;
  readonly decision: Decision;
}

async function answer(served: Served, { wire, route, decision }: Task): Promise<void> {
  const { response, entry, ending } = served;
  const { plan, failure, prompt, turn, usage, id } = decision;
  if (plan.refuse !== undefined) {
    ending.byServer = true;
    served.listener.refuseFor(plan.refuse);
    response.socket?.resetAndDestroy();
    return;
  }
  if (plan.delay > 0) await pause(plan.delay, entry.done);
  if (response.destroyed) return;
  if (failure !== undefined) {
    return sendJson(served, { status: failure.status, body: wire.failure(failure), headers: failure.headers });
  }
  const said = { route, prompt, turn, usage, id, shape: plan.shape };
  const frames = prompt.streaming
    ? disturb(wire.frames(said), { plan, wire, route })
    : [{ text: JSON.stringify(wire.whole(said)), paced: false }];
  entry.status = 200;
  response.writeHead(200, {
    "content-type": prompt.streaming ? wire.contentType(route) : "application/json",
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
    "x-request-id": `req_${id}`,
    "request-id": `req_${id}`,
  });
  await deliver(response, { frames, plan, pace: prompt.streaming ? decision.pace : 0, ending });
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function sendJson({ response, entry }: Served, { status, body, headers = {} }: Reply): void {
  entry.status = status;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(`${JSON.stringify(body)}\n`);
}
