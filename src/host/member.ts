import type { VenturiError } from "../core/errors/errors.ts";
import { inheritedSocket } from "./processes/bound-socket.ts";
import { Link } from "./processes/link.ts";
import type { OwnStatus, ProcessCalls, StartBody, SupervisorCalls } from "./processes/protocol.ts";
import type { SharedTelemetry, Siblings } from "./processes/siblings.ts";
import type { Service } from "./service.ts";
import { replyOf } from "./system/reload-reply.ts";
import { refuse } from "./watchdog/strikes.ts";

const op = "process.ask";
/** Longer than the supervisor's own timeout per process, ms. */
const patience = 4_000;

/** This process as a member of a service run by a supervisor. */
export class Member implements Siblings {
  /** Resolves when it may start. */
  readonly started: Promise<StartBody>;
  url = "";
  readonly socket = inheritedSocket;
  taking = true;
  readonly #link: Link<SupervisorCalls>;
  #service: Service | undefined;
  #drain: ((afterDrain?: "release") => void) | undefined;

  constructor() {
    const started = Promise.withResolvers<StartBody>();
    this.started = started.promise;
    const calls: ProcessCalls = {
      start: (body) => {
        this.url = body.url;
        refuse(body.refused);
        started.resolve(body);
      },
      reload: async () => replyOf(await this.#running().host.reload()),
      drain: ({ afterDrain }) => this.#drain?.(afterDrain),
      takeOver: async ({ worker, death }) => ({ runs: await this.#running().host.takeOver(worker, death) }),
      refuse: ({ refused }) => refuse(refused),
      take: async (...[, socket]: readonly unknown[]) => {
        await this.#running().take(socket);
        this.taking = true;
      },
      rest: () => {
        this.taking = false;
        this.#running().rest();
      },
      alive: () => {},
      status: async (): Promise<OwnStatus> => (await this.#running().status()).status,
      doubt: async (): Promise<OwnStatus> => {
        const service = this.#running();
        service.host.writes.doubted = true;
        return (await service.status()).status;
      },
      active: () => this.#running().host.active(),
      metrics: () => this.#running().host.telemetry.metrics("openmetrics"),
      trace: ({ run }) => this.#service?.host.telemetry.trace(run) ?? null,
    };
    this.#link = new Link<SupervisorCalls>(process, { ...calls });
  }

  /** Reports that the service listens. `drain` is called when this process should end. */
  async ready(service: Service, drain: (afterDrain?: "release") => void): Promise<void> {
    this.#service = service;
    this.#drain = drain;
    await this.#link.ask("ready", undefined);
  }

  async share(open: number, load: number): Promise<number | undefined> {
    return (await this.#link.ask("connections", { open, load })).keep;
  }

  draining(): void {
    this.#link.tell("draining", undefined);
  }

  async failed(error: VenturiError): Promise<void> {
    await this.#link.ask("failed", error.toJSON()).catch(() => {}); // Without a supervisor there is nobody to tell.
  }

  async ended(metrics: string): Promise<void> {
    await this.#link.ask("ended", { metrics }).catch(() => {}); // Without a supervisor nobody sums the metrics.
  }

  states() {
    return this.#link.ask("states", undefined, patience);
  }

  telemetry(own: SharedTelemetry): SharedTelemetry {
    return {
      metrics: (format = "prometheus") => this.#link.ask("metrics", { format }, patience),
      trace: async (run) => (await own.trace(run)) ?? (await this.#link.ask("trace", { run }, patience)) ?? undefined,
    };
  }

  count(key: string, window: number) {
    return this.#link.ask("count", { key, window });
  }

  #running(): Service {
    if (this.#service === undefined) throw new Error(`${op}: the process is still starting`);
    return this.#service;
  }
}
