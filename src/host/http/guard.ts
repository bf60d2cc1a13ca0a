import type { FastifyInstance, FastifyRequest } from "fastify";
import { messageOf, VenturiError, wrap } from "../../core/errors/errors.ts";
import type { AuditEntry } from "../../core/journal/audit.ts";
import type { RateState } from "../../core/ports/rate.ts";
import { doingForRequest, requestDoing } from "../../core/values/doing.ts";
import { runTrace } from "../../serve/run-trace.ts";
import { Keyring } from "../access/auth.ts";
import { FailedLogins } from "../access/failed-logins.ts";
import { tokenCheck } from "../access/jwt.ts";
import type { KeyHolder } from "../access/key-holder.ts";
import { RequestCounts } from "../processes/request-counts.ts";
import { mustNotBlock } from "../watchdog/strikes.ts";
import { dropUnsendable, firstOfAll } from "./every-reply.ts";
import type { ServerDeps } from "./server-deps.ts";

/** Identifies callers, and checks and counts their requests. */
export interface Callers {
  of(request: unknown): KeyHolder;
  /** The tenant that a request's memory is charged to; on routes without a key nobody, so that strangers take no tenant's share. */
  tenantOf(request: unknown): string;
  charge(request: unknown): Promise<void>;
  /** Counts a failed authentication; returns the error to send. */
  refused(request: unknown, error: VenturiError): VenturiError;
  /** State of the key's rate limit when the request was counted. */
  rateOf(request: unknown): RateState | undefined;
  /** The action has already happened, so a failure to audit it is only logged. */
  audit(entry: AuditEntry): Promise<void>;
}

const minute = 60_000;

/** Reads are cheap and are how clients wait, so rate limits do not count them. */
export const isRead = ({ method }: Pick<FastifyRequest, "method">): boolean =>
  method === "GET" || method === "HEAD" || method === "OPTIONS";

/** Checks before every handler: Host and Origin, key, rate. */
export async function guard(app: FastifyInstance, deps: ServerDeps): Promise<Callers> {
  const { settings, audit, clock, log, siblings } = deps;
  const { auth } = settings;
  const keyring = new Keyring(auth, auth?.jwt && (await tokenCheck(auth.jwt)));
  const { identify = (request: FastifyRequest) => keyring.identify(request.headers) } = deps;
  const record = (entry: AuditEntry) =>
    audit.audit(entry).catch((thrown: unknown) => log.error("not audited", { ...entry, error: messageOf(thrown) }));
  const failures = new FailedLogins({ clock, log, audit: (entry) => void record(entry) });
  app.addHook("onClose", async () => failures.flush());
  const before = firstOfAll(settings);
  const holders = new WeakMap<object, KeyHolder>();
  const requestTraces = new WeakMap<object, string>();
  const counts = new RequestCounts();
  const rates = new WeakMap<object, RateState>();
  const charge = async (request: FastifyRequest) => {
    const holder = holders.get(request);
    const most = holder?.requestsPerMinute;
    if (holder === undefined || most === undefined) return;
    const shared = await siblings?.count(holder.id, minute).catch(() => undefined);
    const { current: value, ttl } = shared ?? counts.count(holder.id, minute);
    rates.set(request, { of: "requests", most, left: Math.max(0, most - value), resetMs: ttl });
    if (value <= most) return;
    const seconds = Math.ceil(ttl / 1_000);
    const message = `this is request ${value} of this key within a minute; its limit, requestsPerMinute, is ${most}; try again in ${seconds} s`;
    const details = { limit: "requestsPerMinute", value, most, retryAfterMs: ttl };
    throw new VenturiError("auth.check", "rate_limited", message, { details });
  };
  const refused = ({ ip }: FastifyRequest, error: VenturiError): VenturiError => {
    const told = error.code === "unauthorized" ? failures.note(ip, error) : error;
    deps.refusals?.note(told);
    return told;
  };
  // Uses the callback form: a context entered in an async function is lost when it returns.
  app.addHook("onRequest", (request, _reply, done) => {
    doingForRequest({ tenant: "", route: `${request.method} ${request.routeOptions.url ?? "unknown"}` }, done);
  });
  app.addHook("onRequest", async (request, reply) => {
    requestTraces.set(request, before(request, reply));
    if (request.routeOptions.config.open === true) return;
    try {
      const holder = await identify(request);
      holders.set(request, holder);
      holders.set(request.raw, holder); // The event writer only knows Node's request.
      const doing = requestDoing();
      if (doing !== undefined) {
        doing.tenant = holder.tenant;
        mustNotBlock(doing);
      }
    } catch (thrown) {
      throw refused(request, wrap("auth.check", thrown));
    }
    if (isRead(request)) return;
    try {
      await charge(request);
    } catch (thrown) {
      deps.refusals?.note(thrown, holders.get(request));
      throw thrown;
    }
  });
  // A reply that names a run gets the run's trace. Streams set their own headers, and awaited runs already did.
  app.addHook("onSend", async (request, reply) => {
    dropUnsendable(reply);
    const run = reply.getHeader("x-venturi-run");
    const said = reply.getHeader("traceparent");
    if (typeof run !== "string" || (said !== undefined && said !== requestTraces.get(request))) return;
    reply.removeHeader("traceparent");
    // An error may mean that the run belongs to someone else, so it gets no trace.
    const isKnown = reply.statusCode < 400 && deps.traced === true;
    const trace = isKnown ? await runTrace(deps.runs, run).catch(() => undefined) : undefined; // A removed run has no trace.
    if (trace !== undefined) reply.header("traceparent", trace);
  });
  return {
    of: (request) => {
      const holder = typeof request === "object" && request !== null ? holders.get(request) : undefined;
      if (holder === undefined) throw new VenturiError("auth.check", "unauthorized", "send a key");
      return holder;
    },
    tenantOf: (request) => holders.get(request as object)?.tenant ?? "",
    charge: (request) => charge(request as FastifyRequest), // The host's own request, handed back by a channel.
    refused: (request, error) => refused(request as FastifyRequest, error), // As above.
    rateOf: (request) => rates.get(request as object), // As above.
    audit: record,
  };
}
