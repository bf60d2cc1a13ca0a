import { ErrorBody, named, Turns } from "venturi/internal";
import { type Caller, type ChannelHost, type StoredSchedule, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { isoOf } from "./moment.ts";
import { timingProblems } from "./occurrences.ts";
import { inputOf, noUndefined, type Schedule, watched } from "./schedule.ts";
import { oneTime, scheduleName, timing, what } from "./schedule-options.ts";
import type { ScheduleState } from "./schedule-state.ts";
import type { Scheduler } from "./scheduler.ts";

/** Maximum schedules per tenant, besides those that its runs made. */
const most = 1_000;
/** Maximum length of a schedule as JSON, below the journal's limit of 256 KiB per value. */
const longest = 200_000;
const upcoming = 3;

export interface ScheduleRoutes {
  readonly scheduler: Scheduler;
  readonly now: () => number;
  /** Webhook names allowed in `notify`. */
  readonly webhooks: readonly string[];
}

/** `/v1/schedules`: lists those of the configuration, and creates and removes others. */
export function mountSchedules(host: ChannelHost<FastifyInstance>, deps: ScheduleRoutes): void {
  const { scheduler, now } = deps;
  const turns = new Turns(1); // At the limit, requests to one process would refuse each other.
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.post("/v1/schedules", { schema: making }, async (request, reply) => {
    host.demand(request, "schedule");
    host.demand(request, "start");
    const caller = host.caller(request);
    const agent = permittedAgent(host, request, request.body.agent);
    const definition = await definitionOf({ ...request.body, agent }, { ...deps, caller });
    await turns.take(caller.tenant, async () => {
      await mustHaveRoom(scheduler, definition, 1);
      const taken = (await scheduler.configured()).get(definition.name);
      if (taken?.definition.tenant === caller.tenant || !(await scheduler.stored.add(definition))) {
        throw failure("conflict", `there is a schedule "${definition.name}"; remove it first, or choose another name`);
      }
      // Another process may have stored one since, which only the journal knows. Both may be refused, but never both kept.
      await mustHaveRoom(scheduler, definition, 0).catch(async (thrown: unknown) => {
        await scheduler.stored.remove(definition.tenant, definition.name);
        throw thrown;
      });
    });
    // One of an earlier schedule of this name may be left, if its removal was cut off.
    await scheduler.states.forget(definition);
    return await reply.code(201).send(viewOf(await watched("api", definition), undefined, now()));
  });
  server.get("/v1/schedules", { schema: listing }, async (request) => {
    host.demand(request, "see");
    const caller = host.caller(request);
    const found: z.output<typeof ScheduleView>[] = [];
    for await (const schedule of visible(scheduler, caller)) {
      found.push(viewOf(schedule, await scheduler.states.read(schedule.definition), now()));
      if (found.length >= most) break;
    }
    return { schedules: found };
  });
  server.get("/v1/schedules/:name", { schema: reading }, async (request) => {
    host.demand(request, "see");
    for await (const schedule of visible(scheduler, host.caller(request))) {
      if (schedule.definition.name !== request.params.name) continue;
      return viewOf(schedule, await scheduler.states.read(schedule.definition), now());
    }
    throw none(request.params.name);
  });
  server.delete("/v1/schedules/:name", { schema: removing }, async (request, reply) => {
    host.demand(request, "schedule");
    const { name } = request.params;
    const caller = host.caller(request);
    const stored = await scheduler.stored.get(caller.tenant, name);
    // The agent of an unreadable schedule is unknown, so only a key for all agents may remove it.
    const isAllowed = caller.agents === undefined || (stored !== undefined && caller.agents.includes(stored.agent));
    if (isAllowed && (await scheduler.stored.remove(caller.tenant, name))) {
      await scheduler.states.forget({ tenant: caller.tenant, name });
      return await reply.code(204).send();
    }
    const configured = (await scheduler.configured()).get(name);
    if (configured === undefined || !isVisible(configured, caller)) throw none(name);
    throw failure("conflict", `the schedule "${name}" is in the configuration; remove it there`);
  });
}

async function definitionOf(
  body: z.output<typeof ScheduleBody>,
  {
    now,
    caller,
    webhooks,
  }: ScheduleRoutes & { readonly caller: Caller & { readonly concurrentRuns?: number | undefined } },
): Promise<StoredSchedule> {
  const { in: after, at, cron, input, session, metadata, notify, ...rest } = body;
  const wrong = oneTime(body) ?? (await timingProblems(body))[0]?.message;
  if (wrong !== undefined) throw failure("invalid_input", wrong);
  if (notify !== undefined && !webhooks.includes(notify.webhook)) {
    throw failure("invalid_input", `there is no webhook "${notify.webhook}" to notify`);
  }
  const createdAt = now();
  const moment = at ?? (after === undefined ? undefined : createdAt + after);
  if (moment !== undefined && moment + rest.catchUp < createdAt) {
    throw failure("invalid_input", `${isoOf(moment)} has passed; it is ${isoOf(createdAt)}`);
  }
  return {
    ...rest,
    tenant: caller.tenant,
    input: inputOf(input),
    by: caller.id,
    // A time that has just passed is made up for.
    createdAt: moment === undefined ? createdAt : Math.min(createdAt, moment),
    ...(cron === undefined ? {} : { cron }),
    ...(moment === undefined ? {} : { at: moment }),
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(notify === undefined ? {} : { notify: noUndefined(notify) }),
    ...(caller.concurrentRuns === undefined ? {} : { concurrentRuns: caller.concurrentRuns }),
    ...(caller.agents === undefined ? {} : { agents: caller.agents }),
  };
}

/** Every replica holds all schedules in memory, so their size and number are bounded. `more`: how many are to be stored. */
async function mustHaveRoom({ stored }: Scheduler, definition: StoredSchedule, more: 0 | 1): Promise<void> {
  const size = Buffer.byteLength(JSON.stringify(definition));
  if (size > longest) throw failure("too_large", `the schedule has ${size} bytes as JSON; at most ${longest}`);
  let count = 0;
  for await (const { origin } of stored.all({ tenant: definition.tenant })) if (origin === undefined) count += 1;
  if (count + more > most) throw failure("too_large", `there may be at most ${most} schedules; remove one first`);
}

/** Resolves an alias to the agent's name. Refused as a start would be, instead of failing at each of its times. */
function permittedAgent(host: ChannelHost<FastifyInstance>, request: unknown, asked: string): string {
  const agents = host.runsFor(request).agents();
  const agent = agents.find(({ aliases }) => aliases.includes(asked))?.name ?? asked;
  host.permit(host.caller(request), agent);
  const names = agents.map(({ name }) => name);
  if (names.includes(agent)) return agent;
  throw failure("not_found", `there is no agent "${agent}"; the agents are: ${names.join(", ") || "none"}`);
}

const isVisible = ({ definition }: Schedule, { tenant, tenants, agents }: Caller): boolean =>
  (definition.tenant === tenant || tenants === "all") && (agents?.includes(definition.agent) ?? true);

async function* visible(scheduler: Scheduler, caller: Caller): AsyncGenerator<Schedule> {
  for (const schedule of (await scheduler.configured()).values()) if (isVisible(schedule, caller)) yield schedule;
  const of = caller.tenants === "all" ? undefined : { tenant: caller.tenant };
  for await (const schedule of scheduler.made(of)) if (isVisible(schedule, caller)) yield schedule;
}

function viewOf({ source, definition, occurrences }: Schedule, state: ScheduleState | undefined, now: number) {
  const { name, tenant, agent, cron, timezone, at, overlap, jitter, catchUp, session, by, origin } = definition;
  const next: string[] = [];
  for (let time = occurrences.next(now); time !== undefined && next.length < upcoming; time = occurrences.next(time)) {
    next.push(isoOf(time));
  }
  return {
    name,
    source,
    tenant,
    agent,
    timezone,
    overlap,
    jitter,
    catchUp,
    ...(cron === undefined ? {} : { cron }),
    ...(at === undefined ? {} : { at: isoOf(at) }),
    ...(session === undefined ? {} : { session }),
    ...(by === undefined ? {} : { by }),
    ...(origin === undefined ? {} : { madeBy: origin.run }),
    next,
    last: (state?.starts ?? []).map(({ time, ...rest }) => ({ time: isoOf(time), ...rest })),
  };
}

const failure = (code: "conflict" | "invalid_input" | "not_found" | "too_large", message: string) =>
  new VenturiError("schedule.make", code, message);
const none = (name: string) => new VenturiError("schedule.get", "not_found", `there is no schedule "${name}"`);

const ScheduleBody = z.strictObject({ name: scheduleName, ...timing, ...what });
named("ScheduleRequest", ScheduleBody);

const ScheduleView = z.object({
  name: z.string(),
  source: z.enum(["config", "api"]),
  tenant: z.string(),
  agent: z.string(),
  cron: z.string().optional(),
  timezone: z.string(),
  at: z.string().optional(),
  overlap: z.string(),
  jitter: z.number().describe("ms"),
  catchUp: z.number().describe("ms"),
  session: z.string().optional(),
  by: z.string().optional().describe("id of the key that made it"),
  madeBy: z.string().optional().describe("the run that made it with a tool"),
  next: z.array(z.string()).describe("the next times"),
  last: z
    .array(
      z.object({
        time: z.string(),
        run: z.string().optional(),
        skipped: z.string().optional(),
        error: z.string().optional(),
      }),
    )
    .describe("the last times, newest first, and what came of them"),
});
named("Schedule", ScheduleView);

const Failure = z.object({ error: ErrorBody });
const params = z.object({ name: z.string() });
const failures = { "4XX": Failure, "5XX": Failure };
const tags = ["schedules"];
const example = {
  name: "nightly",
  cron: "0 3 * * *",
  timezone: "Europe/Berlin",
  agent: "assistant",
  input: "Tidy up.",
};
const making = {
  summary: "Make a schedule",
  description: "For keys with the scope `schedule`. Its runs belong to the key's tenant.",
  tags,
  body: ScheduleBody.meta({ examples: [example] }),
  response: { 201: ScheduleView, ...failures },
};
const listing = {
  summary: "Schedules, with their next and last times",
  tags,
  response: { 200: z.object({ schedules: z.array(ScheduleView) }), ...failures },
};
const reading = { summary: "One schedule", tags, params, response: { 200: ScheduleView, ...failures } };
const removing = {
  summary: "Remove a schedule; its runs stay",
  tags,
  params,
  response: { 204: z.undefined(), ...failures },
};
