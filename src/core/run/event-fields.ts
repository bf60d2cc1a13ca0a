import { z } from "zod";
import { type Code, codes } from "../errors/codes.ts";
import { Message } from "../model/messages.ts";
import { NativeAnswer } from "../model/native.ts";
import { Usage } from "../model/usage.ts";
import { ListedSkill } from "./listed-skill.ts";
import { timeParts } from "./time-parts.ts";

/** Time spent waiting before the event that the events' own times do not show, if at least 100 ms. */
const Waited = z.strictObject({
  for: z.enum(timeParts),
  name: z.string().exactOptional(),
  from: z.number(),
  ms: z.number(),
});

const waited = z.array(Waited).exactOptional();
export const base = { run: z.string(), seq: z.number().int().positive(), at: z.number(), waited };
export const inRound = { ...base, round: z.number().int().positive() };
export const native = NativeAnswer.exactOptional();
/** USD, at the prices configured at that time; absent if the price or usage is unknown. */
export const cost = z.number().exactOptional();
/** `cost`: of the run's own generations. `totalCost`: including what its tools spent, such as called agents. */
export const costs = { cost, totalCost: cost };
/** The agent's skills at that time, sorted by name: its instructions list them for the rest of the run. */
export const skills = z.array(ListedSkill).exactOptional();
/** With `agent`, all runs of that agent are paused; the run itself may be paused in addition. */
export const pausing = {
  by: z.string().exactOptional(),
  signal: z.number().int().exactOptional(),
  agent: z.string().exactOptional(),
};
export const ofCall = { ...inRound, call: z.string() };

export const ErrorBody = z.strictObject({
  op: z.string(),
  code: z.enum(Object.keys(codes) as Code[]), // Keys of `codes`.
  err: z.string(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
});
export type ErrorBody = z.output<typeof ErrorBody>;

/** A hedge: another model that was asked in parallel, and cancelled when the other answered, or failed. */
export const Hedged = z.strictObject({
  model: z.string(),
  attempt: z.number().int(),
  error: ErrorBody.exactOptional(),
  /** The prompt of a cancelled request is charged, as reported or estimated. */
  usage: Usage.exactOptional(),
  cost,
});
export type Hedged = z.output<typeof Hedged>;

/** Breakdown of a run's wall time, in ms; the parts add up to it. `RunTimes` computes it from the events; those of earlier releases lack some. */
export const Timing = z.strictObject({
  /** Waiting for its turn in the queue. */
  queue: z.number().exactOptional(),
  /** From sending the request to the first token. */
  providerWait: z.number(),
  providerStream: z.number(),
  /** Silence in the middle of a stream. */
  providerStall: z.number().exactOptional(),
  failedAttempt: z.number().exactOptional(),
  /** Waiting between attempts of a generation. */
  retryWait: z.number().default(0),
  tool: z.number(),
  approval: z.number(),
  hook: z.number().exactOptional(),
  /** Waiting for the client (backpressure). */
  client: z.number(),
  /** Waiting for a commit. */
  journal: z.number().exactOptional(),
  /** The process's event loop was blocked. */
  stalled: z.number().default(0),
  /** Garbage collection. */
  gc: z.number().exactOptional(),
  /** Without a worker, after its process died. */
  down: z.number().exactOptional(),
  /** The run or its agent was paused. */
  paused: z.number().exactOptional(),
  runtime: z.number(),
});
export type Timing = z.output<typeof Timing>;

/** Input of a run: plain text, a conversation so far, values for the agent's declared inputs. */
export const RunInput = z.strictObject({
  text: z.string().exactOptional(),
  messages: z.array(Message).exactOptional(),
  variables: z.record(z.string(), z.unknown()).exactOptional(),
});
export type RunInput = z.output<typeof RunInput>;

/** A call left to the client, of a tool the client supplied. */
export const PendingCall = z.strictObject({
  call: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** The arguments as the model wrote them when they are not a JSON object (truncated or malformed). */
  raw: z.string().exactOptional(),
  /** The arguments' JSON as the model wrote it, if encoding `arguments` would change it. */
  text: z.string().exactOptional(),
});
export type PendingCall = z.output<typeof PendingCall>;

/** Non-text tool output: base64 data, or the hash of a blob in the journal. */
export const ToolContent = z.strictObject({
  mediaType: z.string(),
  data: z.string().exactOptional(),
  hash: z.string().exactOptional(),
  size: z.number().int().exactOptional(),
});

export const ofBudget = {
  ...base,
  budget: z.string(),
  /** Scope of the budget: a tenant, key, user, agent, session, run, or the service. */
  of: z.string(),
  whose: z.string(),
  per: z.string(),
  onExceed: z.enum(["refuse", "finish", "cheaper"]),
  limit: z.strictObject({ usd: z.number().exactOptional(), tokens: z.number().exactOptional() }),
  spent: z.strictObject({ usd: z.number(), tokens: z.number() }),
};
