import { parseUntrusted, shortKey } from "venturi/internal";
import { type ChannelHost, type Clock, messageOf, type Runs, VenturiError } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import type { InboundOptions } from "./inbound-options.ts";
import { noUndefined } from "./schedule.ts";
import { fill } from "./template.ts";
import { type Inbound, idOf, kindOf, problemWith } from "./verify.ts";

const op = "hook.take";
const depth = 64;
/** Characters of a filled session template that tell conversations apart. */
const longestSession = 16_384;

export interface InboundDeps {
  readonly clock: Clock;
  readonly runs: () => Runs;
  readonly config: Readonly<Record<string, InboundOptions>>;
}

/** `POST /v1/hooks/NAME`: lets another system start a run. It authenticates by signature, so the route needs no key. */
export function mountInbound(host: ChannelHost<FastifyInstance>, { clock, runs, config }: InboundDeps): void {
  if (Object.keys(config).length === 0) return;
  const largest = Math.max(...Object.values(config).map(({ maxBody }) => maxBody));
  const route = { config: { open: true, raw: true }, bodyLimit: largest, schema };
  host.server.post("/v1/hooks/:name", route, async (request, reply) => {
    const { name } = request.params as { name: string }; // From the route.
    const options = Object.hasOwn(config, name) ? config[name] : undefined;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const inbound = { headers: request.headers, body, now: clock.now() };
    const problem = options === undefined ? "there is none of this name" : problemWith(inbound, options);
    if (options === undefined || problem !== undefined) {
      const error = refused(new Error(`hook ${name}: ${problem}`));
      throw host.refused?.(request, error) ?? error;
    }
    if (body.length > options.maxBody)
      throw new VenturiError(op, "too_large", "the body is larger than maxBody allows");
    const taken = await take(runs(), { name, options, inbound });
    return await reply.code("run" in taken ? 202 : 200).send(taken);
  });
}

type Taken =
  | { readonly run: string; readonly existing: boolean }
  | { readonly ignored: string }
  | { readonly challenge: string };

async function take(
  runs: Runs,
  { name, options, inbound }: { name: string; options: InboundOptions; inbound: Inbound },
): Promise<Taken> {
  const { from, agent, session, metadata, notify, tenant, events, maxInput } = options;
  const parsed = jsonIn(inbound);
  // Slack verifies the URL once.
  const { type, challenge } = (parsed ?? {}) as { type?: unknown; challenge?: unknown }; // Compared below.
  if (from === "slack" && type === "url_verification" && typeof challenge === "string") return { challenge };
  const kind = kindOf(from, inbound, parsed);
  if (events !== undefined && !events.includes(kind))
    return { ignored: `${kind || "no kind"} is not one of its events` };
  const values = { body: parsed, headers: inbound.headers };
  const conversation = session === undefined ? "" : shortKey(fill(session, values, longestSession));
  const request = {
    agent,
    input: { text: fill(options.input, values, maxInput) },
    metadata: { ...metadata, hook: name, ...(kind === "" ? {} : { hookEvent: kind.slice(0, 200) }) },
    ...(conversation === "" ? {} : { session: conversation }),
    ...(notify === undefined ? {} : { notify: noUndefined(notify) }),
  };
  const { run, existing } = await runs.start(request, {
    tenant,
    key: `hook:${name}:${idOf(from, inbound, parsed)}`,
  });
  return { run, existing };
}

/** Slack sends interactions as a form with JSON in `payload`. */
function jsonIn({ headers, body }: Inbound): unknown {
  const text = body.toString();
  const type = String(headers["content-type"] ?? "");
  if (text === "") return undefined;
  try {
    if (!type.startsWith("application/x-www-form-urlencoded"))
      return parseUntrusted(text, { depth, size: body.length });
    const form = Object.fromEntries(new URLSearchParams(text));
    const { payload } = form;
    return payload === undefined ? form : parseUntrusted(payload, { depth, size: payload.length });
  } catch (thrown) {
    throw new VenturiError(op, "invalid_input", `the body cannot be read: ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** The same for unknown names and bad signatures, so that names cannot be probed. */
const refused = (cause: Error) =>
  new VenturiError(op, "unauthorized", "the signature is not right for this hook", { cause });

const schema = {
  summary: "A delivery of another system starts a run",
  description: "Signed as GitHub, Stripe, Slack or Standard Webhooks do; see docs/time.md.",
  tags: ["hooks"],
  response: {
    200: z.object({ ignored: z.string().optional(), challenge: z.string().optional() }),
    202: z.object({ run: z.string(), existing: z.boolean() }),
  },
};
