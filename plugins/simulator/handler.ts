import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf, VenturiError } from "venturi/plugin";
import { deliver } from "./delivery.ts";
import { disturb } from "./disturb.ts";
import type { Listener } from "./listener.ts";
import { describe } from "./listing.ts";
import { pause } from "./pause.ts";
import type { Prepared } from "./prepared.ts";
import { answerTo } from "./questions.ts";
import type { RequestLog, SimulatedRequest } from "./requests.ts";
import type { Decision, Simulation } from "./simulation.ts";
import type { Route, Wire, WireFrame } from "./wire.ts";
import { anthropic } from "./wires/anthropic.ts";
import { gemini } from "./wires/gemini.ts";
import { ollama } from "./wires/ollama.ts";
import { openai } from "./wires/openai.ts";
import { openaiResponses } from "./wires/openai-responses.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Deps {
  readonly simulation: Simulation;
  readonly requests: RequestLog;
  readonly listener: Listener;
  readonly prepared: Prepared;
}

const wires: readonly Wire[] = [openai, openaiResponses, anthropic, gemini, ollama];
const maxBody = 64 * 1024 * 1024;

/** Serves requests. Errors are reported to the client only. */
export function handlerOf(deps: Deps): Handler {
  return (request, response) => {
    const ending = { byServer: false };
    const entry = deps.requests.open(request, response, () => ending.byServer || deps.listener.closed);
    const served = { ...deps, request, response, entry, ending };
    serve(served).catch((thrown: unknown) => {
      const failure = { status: VenturiError.isInstance(thrown) ? thrown.status : 400, message: messageOf(thrown) };
      if (response.headersSent) return response.destroy();
      const wire = wires.find((candidate) => candidate.name === entry.wire) ?? openai;
      return sendJson(served, { status: failure.status, body: wire.failure(failure) });
    });
  };
}

interface Served extends Deps {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: SimulatedRequest;
  /** Set before the simulator itself cuts the connection. */
  readonly ending: { byServer: boolean };
}

async function serve(served: Served): Promise<void> {
  const { request, entry } = served;
  const url = new URL(`http://simulator${request.url ?? "/"}`);
  const question = request.method === "POST" ? await asked(served, url.pathname) : undefined;
  if (question !== undefined) return sendJson(served, { status: 200, body: question });
  const found = routed(url);
  if (request.method !== "POST" || found === undefined) {
    return sendJson(served, describe(request.method ?? "GET", url.pathname));
  }
  const { wire, route } = found;
  entry.wire = wire.name;
  const text = await readBody(request);
  entry.body = JSON.parse(text);
  const key = served.prepared.key(request, text);
  const ready = served.prepared.get(key);
  const decision = ready?.decision ?? served.simulation.decide(wire.read(entry.body, route), request.headers, text);
  entry.model = decision.prompt.model;
  const task = { wire, route, decision };
  if (!(await survives(served, task))) return;
  const frames = ready?.frames ?? framesOf(task);
  served.prepared.keep(key, { decision, frames });
  await answer(served, task, frames);
}

const questions = /embeddings$|:batchEmbedContents$|\/api\/embed$|_tokens$/;

/** The response to a request that is not a generation. */
async function asked({ request, entry }: Served, path: string): Promise<unknown | undefined> {
  if (!questions.test(path)) return undefined;
  entry.body = JSON.parse(await readBody(request));
  return answerTo(path, entry.body);
}

function routed(url: URL): { wire: Wire; route: Route } | undefined {
  for (const wire of wires) {
    const route = wire.route(url.pathname, url.searchParams);
    if (route !== undefined) return { wire, route };
  }
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBody) throw new VenturiError("simulator.read", "too_large", `the body is over ${maxBody} bytes`);
  }
  return Buffer.concat(chunks).toString();
}

interface Task {
  readonly wire: Wire;
  readonly route: Route;
  readonly decision: Decision;
}

/** Applies faults that prevent a response; returns whether one is still to be sent. */
async function survives(served: Served, { wire, decision }: Task): Promise<boolean> {
  const { response, entry, ending } = served;
  const { plan, failure } = decision;
  if (plan.refuse !== undefined) {
    ending.byServer = true;
    served.listener.refuseFor(plan.refuse);
    response.socket?.resetAndDestroy();
    return false;
  }
  if (plan.delay > 0) await pause(plan.delay, entry.done);
  if (response.destroyed) return false;
  if (failure === undefined) return true;
  sendJson(served, { status: failure.status, body: wire.failure(failure), headers: failure.headers });
  return false;
}

function framesOf({ wire, route, decision }: Task): readonly WireFrame[] {
  const { plan, prompt, turn, usage, id } = decision;
  const said = { route, prompt, turn, usage, id, shape: plan.shape };
  if (!prompt.streaming) return [{ text: JSON.stringify(wire.whole(said)), paced: false }];
  return disturb(wire.frames(said), { plan, wire, route });
}

async function answer(served: Served, { wire, route, decision }: Task, frames: readonly WireFrame[]): Promise<void> {
  const { response, entry, ending } = served;
  const { plan, id, pace } = decision;
  const { streaming } = decision.prompt;
  entry.status = 200;
  response.writeHead(200, {
    "content-type": streaming ? wire.contentType(route) : "application/json",
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
    "x-request-id": `req_${id}`,
    "request-id": `req_${id}`,
  });
  await deliver(response, { frames, plan, pace: streaming ? pace : 0, ending });
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
