import type { ErrorJson } from "../../core/errors/errors.ts";
import type { TimePart } from "../../core/run/run-times.ts";
import type { Cause } from "./causes.ts";
import type { Share } from "./shares.ts";
import type { Story, ToolStory } from "./story.ts";

/** Shorter parts explain nothing, ms. */
const noticeable = 400;

/** The single cause of how the run went: of its failure, its unusual end, most of its time, or else of what went wrong. */
export function causeOf(story: Story): Cause {
  const { end } = story;
  if (end?.type === "run.failed") return causeOfError(story, end.error);
  if (story.stranded) return "stranded";
  const odd = end === undefined ? undefined : oddEnds[end.finish];
  if (odd !== undefined) return odd;
  if (story.tools.size === 0 && isEmpty(story)) return "empty_answer";
  return slowest(story) ?? mishap(story) ?? "nothing";
}

/** A model that was asked and said nothing, but for its reasoning. */
export const isEmpty = ({ end, attempts }: Pick<Story, "end" | "attempts">): boolean =>
  end?.type === "run.finished" &&
  end.finish === "stop" &&
  attempts.length > 0 &&
  end.output === "" &&
  end.object === undefined;

const oddEnds: Readonly<Record<string, Cause>> = {
  length: "answer_cut",
  content_filter: "refused",
  refusal: "refused",
  max_rounds: "limit",
  max_tool_calls: "limit",
  max_tokens: "limit",
  budget: "limit",
  max_time: "limit",
  max_output: "limit",
  repeated_calls: "limit",
};

const byCode: Readonly<Record<string, Cause>> = {
  stream_interrupted: "cancelled",
  shutting_down: "shutdown",
  max_rounds_exceeded: "limit",
  budget_exceeded: "limit",
  plugin_failed: "plugin_failed",
  journal_failed: "journal_failed",
  record_invalid: "journal_failed",
  worker_crashed: "worker_crashed",
  tool_timeout: "tool_timeout",
  tool_denied: "denied",
  tool_failed: "tool_failed",
  tool_not_found: "bad_arguments",
  tool_invalid_arguments: "bad_arguments",
};

const ofProvider: Readonly<Record<string, Cause>> = {
  rate_limited: "rate_limited",
  unavailable: "provider_unavailable",
  unauthorized: "provider_refused",
  forbidden: "provider_refused",
  stream_error: "stream_cut",
  timeout: "provider_silent",
  idle_timeout: "provider_silent",
};

function causeOfError(story: Story, error: ErrorJson): Cause {
  if (error.details?.breaker === "open") return "breaker_open";
  const known = byCode[error.code];
  if (known === "worker_crashed") return crashOf(story);
  if (known === "tool_failed" && [...story.tools.values()].some(isFailedAgent)) return "called_agent";
  if (known !== undefined) return known;
  if (error.op.includes("agent.output")) return "output_unfit";
  if (error.code === "not_found" && !error.op.includes("provider")) return "agent_missing";
  if (error.op.includes("provider") || error.details?.provider !== undefined) return causeOfProvider(error);
  return error.code === "internal" ? "internal" : "request_refused";
}

/** Who ended the process: a tool that called `process.exit`, or something else. */
const crashOf = ({ crashes }: Story): Cause =>
  crashes.some(({ name, tools }) => isExit(name) && tools.length > 0) ? "tool_exited" : "worker_crashed";

/** As `deathOf` puts it: by a status, not by a signal. */
export const isExit = (name: string): boolean => name.startsWith("ended its process (status");

/** The status is more specific than the code meant for the caller. */
function causeOfProvider({ code, details }: ErrorJson): Cause {
  if (details?.page === true) return "not_the_provider";
  if (details?.empty === true) return "empty_answer";
  if (details?.status === 401 || details?.status === 403) return "provider_refused";
  if (details?.status === 404) return "model_missing";
  return ofProvider[code] ?? "provider_error";
}

const isFailedAgent = ({ child, error }: ToolStory): boolean => child !== undefined && error !== undefined;

const byPart: Readonly<Record<TimePart, Cause>> = {
  queue: "queued",
  providerWait: "provider_slow",
  providerStream: "provider_stream",
  providerStall: "provider_stall",
  failedAttempt: "provider_unavailable",
  backoff: "backoff",
  tool: "slow_tool",
  approval: "waited_for_person",
  down: "taken_over",
  client: "slow_client",
  journal: "slow_journal",
  blocked: "blocked_loop",
  gc: "garbage_collection",
  hook: "slow_hook",
  runtime: "runtime",
};

function slowest(story: Story): Cause | undefined {
  const [most] = story.shares.all;
  if (most === undefined || most.ms < noticeable) return undefined;
  // A merely slow answer needs no explanation if something else went wrong.
  if ((most.part === "providerStream" || most.part === "providerWait") && most.ms < 1_000) return mishap(story);
  return refined(story, most);
}

function refined(story: Story, { part, name }: Share): Cause {
  if (part === "failedAttempt") {
    const failed = story.attempts.findLast(({ model, error }) => model === name && error !== undefined);
    return failed?.error === undefined ? "provider_error" : causeOfProvider(failed.error);
  }
  if (part === "tool") {
    const tools = [...story.tools.values()].filter((tool) => name.split(", ").includes(tool.name));
    // What it did was lost with the process.
    if (story.crashes.some((crash) => crash.tools.some((each) => name.split(", ").includes(each))))
      return crashOf(story);
    if (tools.some(({ child }) => child !== undefined)) return "called_agent";
    if (tools.some(({ error }) => error?.code === "tool_timeout")) return "tool_timeout";
  }
  if (part === "down" && story.crashes.length > 0) return crashOf(story);
  if (part === "journal" && name !== "") return "journal_failed";
  if (part === "approval" && story.questions.some(isUnanswered)) return "unanswered";
  return byPart[part];
}

/** What went wrong in a run that succeeded. */
function mishap(story: Story): Cause | undefined {
  const cut = story.attempts.some(({ finish }) => finish === "length");
  if (story.rejected.length > 0) return cut ? "arguments_cut" : "bad_arguments";
  if (story.questions.some(isUnanswered)) return "unanswered";
  if (story.questions.some(({ answer }) => answer?.approved === false)) return "denied";
  const failed = [...story.tools.values()].filter(({ error }) => error !== undefined);
  if (failed.some(isFailedAgent)) return "called_agent";
  if (failed.length > 0)
    return failed.some(({ error }) => error?.code === "tool_timeout") ? "tool_timeout" : "tool_failed";
  if (story.skipped.size > 0) return "breaker_open";
  if (story.attempts.some(({ error }) => error !== undefined)) return failoverOrRetry(story);
  if (isEmpty(story)) return "empty_answer";
  if (story.crashes.length > 0) return crashOf(story);
  if (story.resumes > 0) return "taken_over";
  return [...story.tools.values()].some(({ cut }) => cut !== undefined) ? "result_cut" : undefined;
}

/** Whether several models failed in turn, or one was retried. */
function failoverOrRetry(story: Story): Cause {
  const models = new Set(story.attempts.map(({ model }) => model));
  return models.size > 1 ? "failover" : "backoff";
}

export const isUnanswered = ({
  answer,
}: {
  readonly answer: { readonly reason?: string; readonly signal?: number } | undefined;
}) => answer !== undefined && answer.signal === undefined && answer.reason === "nobody answered in time";
