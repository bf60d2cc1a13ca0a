import type { Code } from "../../core/errors/codes.ts";
import type { ErrorJson } from "../../core/errors/errors.ts";
import { limitNames } from "../../core/run/limit-names.ts";
import type { TimePart } from "../../core/run/time-parts.ts";

/** Explanation of a cause, and how it is recognised. */
interface CauseFacts {
  readonly means: string;
  /** Matches when most of the time went into this part. */
  readonly part?: TimePart;
  /** Matches runs that failed with one of these codes. */
  readonly codes?: readonly Code[];
  /** Matches a provider error by code, status or details; details are most specific, codes least. */
  readonly provider?: {
    readonly codes?: readonly Code[];
    readonly statuses?: readonly number[];
    readonly details?: Readonly<Record<string, unknown>>;
  };
  /** Matches runs that finished with one of these reasons. */
  readonly finishes?: readonly string[];
}

/** All causes that `why` reports; `docs/why.md` has the same list. */
const table = {
  backoff: { means: "the provider refused for a while and Venturi waited before it asked again", part: "backoff" },
  provider_slow: { means: "the model took long until its first token", part: "providerWait" },
  provider_stall: { means: "the model stopped in the middle of its answer, then went on", part: "providerStall" },
  provider_stream: { means: "the answer itself took long: many tokens, or few a second", part: "providerStream" },
  provider_silent: {
    means: "the provider did not answer in time",
    provider: { codes: ["timeout", "idle_timeout"] },
  },
  provider_unavailable: {
    means: "the provider could not be reached or failed on its side",
    part: "failedAttempt",
    provider: { codes: ["unavailable"] },
  },
  provider_refused: {
    means: "the provider refused the key",
    provider: { statuses: [401, 403], codes: ["unauthorized", "forbidden"] },
  },
  provider_moved: {
    means: "the provider's address redirects elsewhere",
    provider: { statuses: [300, 301, 302, 303, 307, 308] },
  },
  model_missing: {
    means: "the provider does not have the model, or nothing is at its address",
    provider: { statuses: [404], codes: ["not_found"] },
  },
  provider_error: { means: "the provider refused the request itself" },
  context_full: {
    means: "the conversation is longer than the model's context",
    provider: { details: { reason: "context_length_exceeded" } },
  },
  rate_limited: {
    means: "the provider's rate limit held longer than the retries",
    provider: { codes: ["rate_limited"] },
  },
  quota_exhausted: {
    means: "the quota or credit at the provider is used up",
    provider: { statuses: [402], details: { exhausted: true } },
  },
  breaker_open: { means: "the provider's circuit breaker was open after repeated failures" },
  not_the_provider: {
    means: "something else answered in the provider's place, such as a proxy's login page",
    provider: { details: { page: true } },
  },
  empty_answer: { means: "the model's answer was empty", provider: { details: { empty: true } } },
  unreadable_answer: {
    means: "the provider's answer was not in its format",
    provider: { details: { malformed: true } },
  },
  stream_cut: { means: "the provider's stream broke off before its end", provider: { codes: ["stream_error"] } },
  failover: { means: "the first model failed and another one answered" },
  answer_cut: { means: "the model reached its token limit", finishes: ["length"] },
  arguments_cut: { means: "a tool call's arguments were cut by the model's token limit" },
  bad_arguments: {
    means: "the model asked for a tool that is not there or with arguments that do not fit",
    codes: ["tool_not_found", "tool_invalid_arguments"],
  },
  refused: {
    means: "the model or its provider's filter refused to answer",
    finishes: ["content_filter", "refusal"],
  },
  output_unfit: { means: "the answer does not fit the agent's output schema" },
  slow_tool: { means: "a tool took long", part: "tool" },
  tool_timeout: { means: "a tool exceeded its timeout", codes: ["tool_timeout"] },
  tool_failed: { means: "a tool failed", codes: ["tool_failed"] },
  result_cut: { means: "the model got only the beginning of a tool's result" },
  called_agent: { means: "an agent that this one called took long or failed" },
  waited_for_person: { means: "a person took long to answer", part: "approval" },
  unanswered: { means: "nobody answered in time" },
  denied: { means: "a person or a policy refused a tool call", codes: ["tool_denied"] },
  limit: {
    means: "the run reached one of its limits",
    codes: ["max_rounds_exceeded", "budget_exceeded"],
    finishes: limitNames,
  },
  cancelled: { means: "the run was cancelled", codes: ["stream_interrupted"] },
  shutdown: { means: "the service stopped", codes: ["shutting_down"] },
  worker_crashed: {
    means: "the process that worked on it ended, and another went on",
    codes: ["worker_crashed"],
  },
  tool_exited: { means: "a tool ended the process" },
  taken_over: { means: "its worker died or gave it up, and another went on", part: "down" },
  stranded: { means: "no worker has the run's agent, so nobody can go on with it" },
  paused: { means: "somebody paused the run or its agent", part: "paused" },
  queued: { means: "the run waited for its turn", part: "queue" },
  slow_client: { means: "the run waited for its reader", part: "client" },
  slow_journal: { means: "the journal was slow to take what the run wrote", part: "journal" },
  blocked_loop: { means: "something kept the process busy", part: "blocked" },
  process_stopped: { means: "the process stood still: suspended, without a processor, or waiting for the system" },
  garbage_collection: { means: "the process spent the time collecting garbage", part: "gc" },
  slow_hook: { means: "a plugin's hook took long", part: "hook" },
  plugin_failed: { means: "a plugin threw", codes: ["plugin_failed"] },
  journal_failed: { means: "the journal could not be written", codes: ["journal_failed", "record_invalid"] },
  agent_missing: { means: "the agent is not in the configuration any more" },
  request_refused: { means: "the run's request does not fit what is configured" },
  internal: { means: "a fault of Venturi itself", codes: ["internal"] },
  runtime: { means: "Venturi itself took long", part: "runtime" },
  nothing: { means: "nothing stands out" },
} as const satisfies Record<string, CauseFacts>;

export type Cause = keyof typeof table;
export const causes: Readonly<Record<Cause, CauseFacts>> = table;

const find = (fits: (facts: CauseFacts) => boolean | undefined): Cause | undefined =>
  (Object.keys(table) as Cause[]).find((cause) => fits(causes[cause])); // Keys of `table`.

export const causeOfPart = (part: TimePart): Cause => find((facts) => facts.part === part) ?? "runtime";

export const causeOfCode = (code: Code): Cause | undefined => find(({ codes }) => codes?.includes(code));

export const causeOfFinish = (finish: string): Cause | undefined => find(({ finishes }) => finishes?.includes(finish));

export function causeOfProvider({ code, details = {} }: ErrorJson): Cause {
  const isDetailed = (wanted: Readonly<Record<string, unknown>>) =>
    Object.entries(wanted).every(([key, value]) => details[key] === value);
  return (
    find(({ provider }) => provider?.details !== undefined && isDetailed(provider.details)) ??
    find(({ provider }) => provider?.statuses?.includes(Number(details.status))) ??
    find(({ provider }) => provider?.codes?.includes(code)) ??
    "provider_error"
  );
}
