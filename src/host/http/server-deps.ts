import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Journal } from "../../core/journal/journal.ts";
import type { Channel } from "../../core/ports/channel.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Memory } from "../../core/ports/held.ts";
import type { Inspect } from "../../core/ports/inspect.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import type { Admission } from "../access/admission.ts";
import type { KeyHolder } from "../access/key-holder.ts";
import type { Refusals } from "../access/refusals.ts";
import type { ServerSettings } from "../config/server.ts";
import type { SharedTelemetry } from "../processes/siblings.ts";
import type { ReadyDeps } from "./readyz.ts";
import type { ServiceLimits } from "./service-limits.ts";

/** What a server is built from. */
export interface ServerDeps extends ReadyDeps {
  readonly settings: ServerSettings;
  readonly limits: ServiceLimits;
  readonly runs: Runs;
  readonly admission: Admission;
  readonly memory: Memory;
  /** Notified of refused requests. */
  readonly refusals?: Refusals;
  /** Metrics of requests. */
  readonly measure?: Pick<Telemetry, "shift" | "took">;
  readonly telemetry: SharedTelemetry;
  readonly audit: Pick<Journal, "audit" | "audits">;
  readonly clock: Clock;
  readonly channels: readonly { readonly name: string; readonly channel: Channel<FastifyInstance> }[];
  /** Replaces `settings.auth`: a program that mounts the service authenticates its own users. */
  readonly identify?: (request: FastifyRequest) => Promise<KeyHolder>;
  /** An open socket to listen on instead of an address. */
  readonly socket?: { readonly fd: number; readonly url: string };
  readonly version: string;
  /** Whether runs are traced. */
  readonly traced?: boolean;
  readonly inspect?: Inspect;
}
