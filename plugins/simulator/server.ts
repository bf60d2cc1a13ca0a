import { type Handler, handlerOf } from "./handler.ts";
import { Listener } from "./listener.ts";
import { Prepared } from "./prepared.ts";
import { RequestLog, type SimulatedRequest } from "./requests.ts";
import type { ScenarioInput } from "./scenario.ts";
import { parseScenarios, readScenarios } from "./scenario-files.ts";
import { Simulation } from "./simulation.ts";

// Not imported: a namespace reads every export, and one of them loads Node's fetch, 30 ms of each start.
const { createServer } = process.getBuiltinModule("node:http");

export interface SimulatorOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly host?: string;
  readonly seed?: number;
  readonly pace?: number;
  /** Faults for every request, in the grammar of the header `x-simulate-fault`. */
  readonly faults?: string;
  /** Number of requests kept in `requests`, 1000 by default; 0 where nothing reads them. */
  readonly keep?: number;
  /** Paths of YAML files, or scenarios as objects. */
  readonly scenarios?: readonly (string | ScenarioInput)[];
}

export interface Simulator {
  readonly url: string;
  readonly port: number;
  /** Received requests, oldest first. */
  readonly requests: readonly SimulatedRequest[];
  next(): Promise<SimulatedRequest>;
  /** Refuses new connections until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1", seed = 1, pace = 0, faults = "" } = options;
  const given = options.scenarios ?? [];
  const scenarios = [
    ...parseScenarios(given.filter((entry) => typeof entry !== "string")),
    ...(await readScenarios(given.filter((entry) => typeof entry === "string"))),
  ];
  const requests = new RequestLog(options.keep ?? 1000);
  const server = createServer((request, response) => handle(request, response));
  server.keepAliveTimeout = 60_000;
  const listener = new Listener(server, host);
  const handle: Handler = handlerOf({
    simulation: new Simulation({ seed, pace, faults, scenarios }),
    requests,
    listener,
    prepared: new Prepared(),
  });
  const port = await listener.open(options.port ?? 0);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    requests: requests.all,
    next: () => requests.next(),
    refuse: async () => listener.refuse(),
    accept: () => listener.accept(),
    close: () => listener.close(),
  };
}
