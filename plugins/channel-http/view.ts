import {
  beginning,
  Digest,
  ErrorBody,
  inputText,
  named,
  outcomeOf,
  outcomes,
  PendingCall,
  Timing,
  Usage,
} from "venturi/internal";
import type { RunRow, TerminalEvent } from "venturi/plugin";
import { z } from "zod";

export const Failure = named("Failure", z.object({ error: ErrorBody }));

/** An open question. */
export const PendingView = z.object({
  kind: z
    .enum(["approve", "input", "elicit"])
    .describe("approve: whether a call may be made; others: a tool's question"),
  call: z.string().describe("what POST /v1/runs/{run}/approvals/{call} and …/questions/{call} take"),
  name: z.string().describe("the tool"),
  arguments: z.record(z.string(), z.unknown()).describe("of the call to be approved"),
  reason: z.string().optional(),
  show: z
    .array(z.object({ name: z.string(), value: z.string() }))
    .optional()
    .describe("what the tool's approval.show names"),
  message: z.string().optional().describe("what is asked, when it is not approval"),
  schema: z.record(z.string(), z.unknown()).optional().describe("JSON Schema of the answer; without one it is a text"),
  choices: z.array(z.string()).optional(),
  url: z.string().optional().describe("where the person does what is asked"),
  fallback: z.unknown().optional().describe("the answer when nobody gives one in time"),
  since: z.number(),
  until: z.number().optional().describe("when it counts as denied, or gets its fallback"),
  origin: z
    .object({ run: z.string(), call: z.string(), agent: z.string() })
    .optional()
    .describe("the called run whose question this is"),
});

named("Question", PendingView);

/** A run as the API shows it. */
export const RunView = z.object({
  run: z.string(),
  status: z
    .enum(["ready", "running", "waiting", "stranded", ...outcomes])
    .describe("`stranded`: nobody can go on with it, because its agent is not in the configuration any more"),
  tenant: z.string().optional(),
  agent: z.string().optional(),
  session: z.string().optional(),
  createdAt: z.number().optional(),
  updatedAt: z.number().optional(),
  head: z.number().int().optional().describe("seq of its last event"),
  metadata: z.record(z.string(), z.unknown()).optional(),
  finish: z.string().optional(),
  output: z.string().optional(),
  object: z.unknown().optional(),
  calls: z.array(PendingCall).optional(),
  usage: Usage.optional(),
  cost: z.number().optional().describe("USD, of its own generations"),
  totalCost: z.number().optional().describe("with what its tools spent, such as agents they called"),
  rounds: z.number().int().optional(),
  timing: Timing.optional(),
  error: ErrorBody.optional(),
  asked: z.string().optional().describe("first characters of what it was asked, while it has no digest"),
  digest: Digest.optional().describe("of an ended run, where the journal keeps digests"),
  pending: z.array(PendingView).optional().describe("what it waits for, while its status is waiting"),
});

named("RunView", RunView);

export function statusOf(row: RunRow): string {
  if (row.state === "done") return row.outcome ?? "failed";
  if (row.stranded) return "stranded";
  return row.asking > 0 ? "waiting" : row.state;
}

export function overview(row: RunRow): Record<string, unknown> {
  return {
    run: row.run,
    status: statusOf(row),
    tenant: row.tenant,
    agent: row.agent,
    session: row.session,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    head: row.head,
    metadata: row.request.metadata,
    ...(row.digest === undefined ? { asked: beginning(inputText(row.request.input), 200) } : { digest: row.digest }),
  };
}

/** How a run ended. */
export function ending(event: TerminalEvent): Record<string, unknown> {
  const { type, seq, at, run, ...rest } = event;
  return { status: outcomeOf(event), ...rest };
}
