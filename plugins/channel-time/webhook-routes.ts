import { ErrorBody, named } from "venturi/internal";
import { type Caller, type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import type { DeadLetter } from "./lanes.ts";
import type { Message } from "./message.ts";
import { isoOf } from "./moment.ts";
import type { WebhookOptions } from "./webhook-options.ts";
import type { Webhooks } from "./webhooks.ts";

const mostCounted = 1_000;
const page = 50;

export interface WebhookRoutes {
  readonly webhooks: Webhooks;
  readonly config: Readonly<Record<string, WebhookOptions>>;
}

/** `/v1/webhooks`: delivery status, failed deliveries, and resending them. */
export function mountWebhooks(host: ChannelHost<FastifyInstance>, { webhooks, config }: WebhookRoutes): void {
  const { lanes } = webhooks;
  const server = host.server.withTypeProvider<ZodRoutes>();
  const existing = (caller: Caller, name: string): WebhookOptions => {
    const options = Object.hasOwn(config, name) ? config[name] : undefined;
    if (options !== undefined && concerns(options, caller)) return options;
    throw new VenturiError("webhook.get", "not_found", `there is no webhook "${name}"`);
  };
  server.get("/v1/webhooks", { schema: listing }, async (request) => {
    host.demand(request, "inspect");
    const caller = host.caller(request);
    const found: z.output<typeof WebhookView>[] = [];
    for (const [name, options] of Object.entries(config)) {
      if (!concerns(options, caller)) continue;
      const { url, events, agents, tenants, runs } = options;
      const view = { name, events, runs, ...(url === undefined ? {} : { url: new URL(url).origin }) };
      const whom = { ...(agents === undefined ? {} : { agents }), ...(tenants === undefined ? {} : { tenants }) };
      found.push({ ...view, ...whom, ...(seesAll(options, caller) ? await figuresOf(name) : {}) });
    }
    return { webhooks: found };
  });
  server.get("/v1/webhooks/:name/dead", { schema: reading }, async (request) => {
    host.demand(request, "inspect");
    const caller = host.caller(request);
    const { name } = request.params;
    existing(caller, name);
    const after = request.query.cursor;
    const found = await lettersOf(name, { after, most: page + 1, isWanted: (letter) => isOwn(letter, caller) });
    const letters = found.slice(0, page).map(letterView);
    const last = letters.at(-1)?.id;
    return { letters, ...(found.length <= page || last === undefined ? {} : { cursor: last }) };
  });
  server.post("/v1/webhooks/:name/replay", { schema: replaying }, async (request) => {
    host.demand(request, "inspect");
    host.demand(request, "steer");
    const caller = host.caller(request);
    const { name } = request.params;
    existing(caller, name);
    let replayed = 0;
    for (const letter of await asked(name, caller, request.body.ids)) {
      await lanes.replay(letter);
      replayed += 1;
    }
    return { replayed };
  });
  server.delete("/v1/webhooks/:name/dead/:id", { schema: dropping }, async (request, reply) => {
    host.demand(request, "inspect");
    host.demand(request, "steer");
    const caller = host.caller(request);
    const { name, id } = request.params;
    existing(caller, name);
    const letter = await lanes.letter(name, id);
    if (letter === undefined || !mayChange(letter, caller)) throw noLetter(id);
    await lanes.drop(name, id);
    return await reply.code(204).send();
  });

  async function asked(name: string, caller: Caller, ids: readonly string[] | undefined): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (const id of ids ?? []) {
      const letter = await lanes.letter(name, id);
      if (letter === undefined || !mayChange(letter, caller)) throw noLetter(id);
      found.push(letter);
    }
    if (ids !== undefined) return found;
    return await lettersOf(name, { most: mostCounted, isWanted: (letter) => mayChange(letter, caller) });
  }

  /** Reads past letters that are not wanted: another tenant's must neither fill a page nor be its cursor. */
  async function lettersOf(name: string, { after, most, isWanted }: Wanted): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (let from = after; ; ) {
      const read = await lanes.letters(name, from, mostCounted);
      found.push(...read.map(({ letter }) => letter).filter(isWanted));
      from = read.at(-1)?.letter.message.id;
      if (found.length >= most || read.length < mostCounted) return found.slice(0, most);
    }
  }

  async function figuresOf(name: string) {
    const { deliveredAt, failedAt, error, delivered, failed } = (await webhooks.figures.get(name)?.read()) ?? {
      delivered: 0,
      failed: 0,
    };
    return {
      delivered,
      failed,
      waiting: await lanes.count(name, mostCounted),
      dead: (await lanes.letters(name, undefined, mostCounted)).length,
      ...(deliveredAt === undefined ? {} : { deliveredAt: isoOf(deliveredAt) }),
      ...(failedAt === undefined ? {} : { failedAt: isoOf(failedAt) }),
      ...(error === undefined ? {} : { error }),
    };
  }
}

interface Wanted {
  readonly after?: string | undefined;
  readonly most: number;
  readonly isWanted: (letter: DeadLetter) => boolean;
}

/** Without keys there is a single caller, who is everyone. */
const isOperator = ({ tenants, keyless }: Caller): boolean => tenants === "all" || keyless === true;
const concerns = ({ tenants }: WebhookOptions, caller: Caller): boolean =>
  isOperator(caller) || (tenants?.includes(caller.tenant) ?? true);
/** Sums over tenants are only for callers who may see them all. */
const seesAll = ({ tenants }: WebhookOptions, caller: Caller): boolean =>
  isOperator(caller) || (tenants?.every((tenant) => tenant === caller.tenant) ?? false);
const isOwn = ({ message }: DeadLetter, caller: Caller): boolean =>
  (message.tenant === caller.tenant || isOperator(caller)) && isOfItsAgents(message, caller);
/** As for runs: a caller that sees all tenants changes only its own, unless it may act in all. */
const mayChange = ({ message }: DeadLetter, caller: Caller): boolean =>
  (message.tenant === caller.tenant || caller.keyless === true || caller.act === "all") &&
  isOfItsAgents(message, caller);
const isOfItsAgents = ({ agent = "" }: Message, { agents }: Caller): boolean => agents?.includes(agent) ?? true;

const letterView = ({ run, message, attempts, error, at }: DeadLetter): z.output<typeof LetterView> => ({
  id: message.id,
  run,
  type: message.type,
  tenant: message.tenant,
  attempts,
  error,
  at: isoOf(at),
});

const noLetter = (id: string) =>
  new VenturiError("webhook.get", "not_found", `there is no dead letter "${id.slice(0, 200)}"`);

const WebhookView = z.object({
  name: z.string(),
  url: z.string().optional().describe("its origin: the path of many receivers is their secret"),
  events: z.array(z.string()),
  runs: z.enum(["all", "notify"]),
  agents: z.array(z.string()).optional(),
  tenants: z.array(z.string()).optional(),
  delivered: z.number().int().optional(),
  failed: z.number().int().optional().describe("tries that failed"),
  waiting: z.number().int().optional().describe("runs with something to deliver, now or when they end; at most 1000"),
  dead: z.number().int().optional().describe("deliveries that were given up; at most 1000"),
  deliveredAt: z.string().optional(),
  failedAt: z.string().optional(),
  error: z.string().optional().describe("of the last try that failed"),
});
named("Webhook", WebhookView);

const LetterView = z.object({
  id: z.string(),
  run: z.string(),
  type: z.string(),
  tenant: z.string(),
  attempts: z.number().int(),
  error: z.string(),
  at: z.string(),
});
named("DeadLetter", LetterView);

const Failure = z.object({ error: ErrorBody });
const failures = { "4XX": Failure, "5XX": Failure };
const tags = ["webhooks"];
const params = z.object({ name: z.string() });
const listing = {
  summary: "Webhooks and how their deliveries are doing",
  tags,
  response: { 200: z.object({ webhooks: z.array(WebhookView) }), ...failures },
};
const reading = {
  summary: "Deliveries that were given up",
  tags,
  params,
  querystring: z.object({ cursor: z.string().max(512).optional() }),
  response: { 200: z.object({ letters: z.array(LetterView), cursor: z.string().optional() }), ...failures },
};
const replaying = {
  summary: "Send what was given up again",
  tags,
  params,
  body: z
    .strictObject({ ids: z.array(z.string().max(512)).max(mostCounted).optional().describe("all when absent") })
    .meta({ examples: [{}] }),
  response: { 200: z.object({ replayed: z.number().int() }), ...failures },
};
const dropping = {
  summary: "Forget a delivery that was given up",
  tags,
  params: z.object({ name: z.string(), id: z.string() }),
  response: { 204: z.undefined(), ...failures },
};
