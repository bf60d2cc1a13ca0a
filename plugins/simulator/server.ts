import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { messageOf, VenturiError } from "venturi/plugin";
import { deliver } from "./delivery.ts";
import { disturb } from "./disturb.ts";
import { describe } from "./listing.ts";
import { RequestLog, type SimulatedRequest } from "./requests.ts";
import type { ScenarioInput } from "./scenario.ts";
import { parseScenarios, readScenarios } from "./scenario-files.ts";
import { type Decision, Simulation } from "./simulation.ts";
import type { Failure } from "./turn.ts";
import type { Route, Wire } from "./wire.ts";
import { anthropic } from "./wires/anthropic.ts";
import { gemini } from "./wires/gemini.ts";
import { ollama } from "./wires/ollama.ts";
import { openai } from "./wires/openai.ts";
import { openaiResponses } from "./wires/openai-responses.ts";

export interface SimulatorOptions {
  /** 0 = any free port. */
  readonly port?: number;
  readonly host?: string;
  readonly seed?: number;
  readonly pace?: number;
  /** Faults of every request, in the grammar of the header `x-simulate-fault`. */
  readonly faults?: string;
  /** Paths of YAML files, or scenarios themselves. */
  readonly scenarios?: readonly (string | ScenarioInput)[];
}

export interface Simulator {
  readonly url: string;
  readonly port: number;
  /** What was received, oldest first. */
  readonly requests: readonly SimulatedRequest[];
  /** The next request that arrives. */
  next(): Promise<SimulatedRequest>;
  /** Refuses new connections until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

const wires: readonly Wire[] = [openai, openaiResponses, anthropic, gemini, ollama];
const op = "simulator.start";
const keptRequests = 10_000;
const maxBody = 64 * 1024 * 1024;

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1", seed = 1, pace = 0, faults = "" } = options;
  const given = options.scenarios ?? [];
  const scenarios = [
    ...parseScenarios(given.filter((entry) => typeof entry !== "string")),
    ...(await readScenarios(given.filter((entry) => typeof entry === "string"))),
  ];
  const simulation = new Simulation({ seed, pace, faults, scenarios });
  const requests = new RequestLog(keptRequests);
  const server = createServer((request, response) => {
    void serve({ request, response, simulation, requests, refuse });
  });
  server.keepAliveTimeout = 60_000;
  const port = await listen(server, options.port ?? 0, host);
  const accept = async () => {
    if (!server.listening) await listen(server, port, host);
  };
  let closed = false;
  /** Only the listener goes: whoever is connected already stays so. */
  const refuse = async (ms?: number) => {
    await stopListening(server);
    if (ms === undefined) return;
    setTimeout(() => {
      if (!closed) void accept();
    }, ms).unref();
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    requests: requests.all,
    next: () => requests.next(),
    refuse: () => refuse(),
    accept,
    async close() {
      closed = true;
      const stopped = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await stopped;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error) =>
      reject(new VenturiError(op, "unavailable", `cannot listen on ${host}:${port}: ${messageOf(cause)}`, { cause }));
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** `server.close` calls back only when the last connection ends; the listener is gone at once. */
async function stopListening(server: Server): Promise<void> {
  if (server.listening) server.close();
}

interface Served {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly simulation: Simulation;
  readonly requests: RequestLog;
  readonly refuse: (ms?: number) => Promise<void>;
}

async function serve(served: Served): Promise<void> {
  const { request, response, requests, simulation } = served;
  let ended = false;
  const entry = requests.open(request, response, () => ended);
  const url = new URL(request.url ?? "/", "http://simulator");
  const found = routed(url);
  if (request.method !== "POST" || found === undefined) {
    const reply = describe(request.method ?? "GET", url.pathname);
    entry.status = reply.status;
    return sendJson(response, reply);
  }
  const { wire, route } = found;
  entry.wire = wire.name;
  try {
    const text = await readBody(request);
    entry.body = JSON.parse(text);
    const decision = simulation.decide(wire.read(entry.body, route), request.headers, text);
    entry.model = decision.prompt.model;
    await answer(served, { wire, route, decision, entry, end: () => (ended = true) });
  } catch (thrown) {
    entry.status = 400;
    if (!response.headersSent) sendFailure(response, wire, { status: 400, message: messageOf(thrown) });
    else response.destroy();
  }
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
    if (size > maxBody)
      throw new VenturiError("simulator.read", "too_large", `the body is larger than ${maxBody} bytes`);
  }
  return Buffer.concat(parts).toString();
}

interface Task {
  readonly wire: Wire;
  readonly route: Route;
  readonly decision: Decision;
  readonly entry: SimulatedRequest;
  /** To be called before the simulator itself breaks a connection off. */
  readonly end: () => void;
}

async function answer({ response, refuse }: Served, { wire, route, decision, entry, end }: Task): Promise<void> {
  const { plan, failure, prompt, turn, usage, id } = decision;
  if (plan.refuse !== undefined) {
    end();
    await refuse(plan.refuse);
    response.socket?.resetAndDestroy();
    return;
  }
  if (plan.delay > 0) await Promise.race([entry.done, new Promise((resolve) => setTimeout(resolve, plan.delay))]);
  if (response.destroyed) return;
  entry.status = failure?.status ?? 200;
  if (failure !== undefined) return sendFailure(response, wire, failure);
  const said = { route, prompt, turn, usage, id, shape: plan.shape };
  const frames = prompt.streaming
    ? disturb(wire.frames(said), { plan, wire, route })
    : [{ text: JSON.stringify(wire.whole(said)), paced: false }];
  response.writeHead(200, {
    "content-type": prompt.streaming ? wire.contentType(route) : "application/json",
    "cache-control": "no-cache",
    "transfer-encoding": "chunked",
    "x-request-id": `req_${id}`,
    "request-id": `req_${id}`,
  });
  await deliver(response, { frames, plan, pace: prompt.streaming ? decision.pace : 0, end });
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function sendFailure(response: ServerResponse, wire: Wire, failure: Failure): void {
  sendJson(response, { status: failure.status, body: wire.failure(failure), headers: failure.headers });
}

function sendJson(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(`${JSON.stringify(body)}\n`);
}
