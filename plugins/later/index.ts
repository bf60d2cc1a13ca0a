import { StoredSchedules } from "venturi/internal";
import {
  Duration,
  definePlugin,
  defineTool,
  fromToolOptions,
  Journal,
  type KeyValues,
  type RunRequest,
  type Runs,
  type StoredSchedule,
  type ToolContext,
  toolOptions,
  VenturiError,
} from "venturi/plugin";
import { z } from "zod";

const op = "tool.call";

const Options = z.strictObject({
  ...toolOptions,
  agent: z.string().optional().describe("agent to start; default: the calling one"),
  most: z.number().int().min(1).max(100).default(5).describe("maximum schedules per run"),
  longest: Duration.default(30 * 86_400_000).describe("how far ahead"),
  chain: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(3)
    .describe("maximum chain length: a run started later may start others"),
});
type Options = z.output<typeof Options>;

export default definePlugin({
  name: "later",
  kind: "tool",
  description: "Starts a run at a later time",
  options: Options,
  check: ({ agent }, { agents }) =>
    agent === undefined || agents.includes(agent) ? [] : [{ path: ["agent"], message: `there is no agent "${agent}"` }],
  create(options, { name, clock, runs, resolve }) {
    return defineTool({
      ...fromToolOptions(options),
      name,
      description: `Starts a task at a later time, at most ${options.most} per conversation turn. The task runs on its own; its result is not returned here.`,
      input: z.strictObject({
        task: z
          .string()
          .min(1)
          .max(20_000)
          .describe("the whole task; whoever does it sees nothing else unless it goes on this conversation"),
        in: z.string().max(20).optional().describe('how long from now: "90s", "15m", "2h" or "3d"'),
        at: z.string().max(40).optional().describe("when, in ISO 8601 with an offset: 2027-01-01T09:00:00+01:00"),
        here: z.boolean().optional().describe("go on this conversation instead of beginning a new one"),
      }),
      effect: "idempotent",
      call: (input, context) =>
        later({ input, context, options, now: clock.now(), runs: runs(), values: resolve(Journal).keyValues }),
    });
  },
});

interface Asked {
  readonly input: { task: string; in?: string | undefined; at?: string | undefined; here?: boolean | undefined };
  readonly context: ToolContext;
  readonly options: Options;
  readonly now: number;
  readonly runs: Runs;
  readonly values: KeyValues | undefined;
}

/** A run's slots are taken one by one, and stay taken after their time has come, until the run ends. */
async function later({ input, context, options, now, runs, values }: Asked): Promise<unknown> {
  if (values === undefined) throw failure("this service cannot keep schedules");
  const { run, call, session, agent } = context;
  const at = momentOf(input, now);
  if (at < now - 60_000) throw failure(`${iso(at)} has passed; it is ${iso(now)}`);
  if (at > now + options.longest) throw failure(`at most ${iso(now + options.longest)}`);
  const { tenant, request } = await runs.get(run);
  const depth = (await depthOf(runs, request)) + 1;
  if (depth > options.chain)
    throw failure(`runs that were started later may go on ${options.chain} times; do it now, or leave it`);
  if (input.here && session === undefined) throw failure("this run is not part of a conversation to go on with");
  const stored = new StoredSchedules(values);
  for await (const known of stored.all({ tenant, prefix: `later.${run}.` })) {
    if (known.origin?.call === call && known.at !== undefined) return { schedule: known.name, at: iso(known.at) };
  }
  const schedule: Omit<StoredSchedule, "name"> = {
    tenant,
    agent: options.agent ?? agent,
    input: { text: input.task },
    at,
    timezone: "UTC",
    overlap: "queue",
    jitter: 0,
    catchUp: 7 * 86_400_000,
    origin: { run, call, depth },
    createdAt: Math.min(now, at),
    ...(input.here && session !== undefined ? { session } : {}),
    ...(request.user === undefined ? {} : { metadata: { user: request.user } }),
    ...(request.caller === undefined ? {} : { by: request.caller.id }),
    ...(request.caller?.concurrentRuns === undefined ? {} : { concurrentRuns: request.caller.concurrentRuns }),
    ...(request.caller?.agents === undefined ? {} : { agents: request.caller.agents }),
  };
  for (let slot = 1; slot <= options.most; slot++) {
    const name = `later.${run}.${slot}`;
    if (await stored.add({ ...schedule, name })) return { schedule: name, at: iso(at) };
  }
  throw failure(`this run has made ${options.most} already, which is its limit`);
}

/** How many runs in a row were started later. A called run belongs to its caller's chain, or calling would begin another. */
async function depthOf(runs: Runs, { metadata, parent }: RunRequest): Promise<number> {
  const own = metadata?.laterDepth; // A caller may have set it to anything.
  const depth = typeof own === "number" && own > 0 ? own : 0;
  return parent === undefined ? depth : Math.max(depth, await depthOf(runs, (await runs.get(parent.run)).request));
}

function momentOf({ in: after, at }: Asked["input"], now: number): number {
  if ((after === undefined) === (at === undefined)) throw failure("give one of in and at");
  if (after !== undefined) {
    const parsed = Duration.safeParse(after);
    if (parsed.success) return now + parsed.data;
    throw failure(`"${after}" is not a time such as "90s", "15m", "2h" or "3d"`);
  }
  const moment = /(?:Z|[+-]\d\d:\d\d)$/i.test(at ?? "") ? Date.parse(at ?? "") : Number.NaN;
  if (Number.isNaN(moment))
    throw failure(`"${at}" is not a moment with its offset, such as "2027-01-01T09:00:00+01:00"`);
  return moment;
}

const iso = (moment: number): string => new Date(moment).toISOString();
const failure = (message: string) => new VenturiError(op, "tool_failed", message);
