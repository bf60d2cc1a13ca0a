import { z } from "zod";

/** The called run that a forwarded question comes from; the event's `call` is then this run's id for it. */
const Origin = z.strictObject({ run: z.string(), call: z.string(), agent: z.string() });

export const QuestionKind = z.enum(["input", "elicit"]);
export type QuestionKind = z.output<typeof QuestionKind>;

export const approvalRequested = {
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  reason: z.string().exactOptional(),
  /** The values named by the tool's `approval.show` at the time of the question. */
  show: z.array(z.strictObject({ name: z.string(), value: z.string() })).exactOptional(),
  /** When an unanswered approval counts as refused, ms since the epoch. */
  until: z.number().exactOptional(),
  origin: Origin.exactOptional(),
};

export const approvalResolved = {
  approved: z.boolean(),
  reason: z.string().exactOptional(),
  by: z.string().exactOptional(),
  /** The arguments the call is made with, when the person changed them. */
  arguments: z.record(z.string(), z.unknown()).exactOptional(),
  /** The person allowed all calls of the tool for the rest of the run. */
  for: z.literal("run").exactOptional(),
  /** Number of the signal that resolved it; absent on timeout. */
  signal: z.number().int().exactOptional(),
};

/** A running tool asks a person for something other than approval. */
export const questionAsked = {
  /** `input`: the agent asks. `elicit`: a tool server asks. */
  kind: QuestionKind,
  /** The tool that asks. */
  name: z.string(),
  message: z.string(),
  /** JSON Schema of the answer; without one it is text. */
  schema: z.record(z.string(), z.unknown()).exactOptional(),
  choices: z.array(z.string()).exactOptional(),
  /** Address where the person does what is asked; the answer only confirms it. */
  url: z.string().exactOptional(),
  /** Answer used when nobody replies in time; without it the question counts as declined. */
  fallback: z.unknown().exactOptional(),
  until: z.number().exactOptional(),
  origin: Origin.exactOptional(),
};

export const questionAnswered = {
  /** False: declined, or nobody answered in time. */
  answered: z.boolean(),
  answer: z.unknown().exactOptional(),
  reason: z.string().exactOptional(),
  by: z.string().exactOptional(),
  signal: z.number().int().exactOptional(),
};
