import type { ErrorJson } from "../../core/errors/errors.ts";
import { isIdle } from "../../core/ports/stalls.ts";
import { type Cause, causeOfCode, causeOfFinish, causeOfPart, causeOfProvider } from "./causes.ts";
import type { Share } from "./shares.ts";
import type { Story, ToolStory } from "./story.ts";

/** Shorter shares explain nothing, ms. */
const noticeable = 400;

/** The one cause of the run's outcome: of its failure, its unusual end, most of its time, or else of a mishap. */
export function causeOf(story: Story): Cause {
  const { end } = story;
  if (end?.type === "run.failed") return causeOfError(story, end.error);
  if (story.stranded) return "stranded";
  const odd = end === undefined ? undefined : causeOfFinish(end.finish);
  if (odd !== undefined) return odd === "limit" ? (futile(story) ?? odd) : odd;
  if (story.tools.length === 0 && isEmpty(story)) return "empty_answer";
  return slowest(story) ?? mishap(story) ?? "nothing";
}

/** Why the run reached its limit without progress: none of its calls succeeded. */
function futile({ rejected, tools }: Story): Cause | undefined {
  if (tools.some(({ error }) => error === undefined)) return undefined;
  if (rejected.length > tools.length) return "bad_arguments";
  return tools.length > 1 ? causeOfTools(tools) : undefined;
}

/** Why calls failed: another agent, our journal, the time they took, or the tool itself. */
function causeOfTools(failed: readonly ToolStory[]): Cause {
  if (failed.some(isFailedAgent)) return "called_agent";
  const codes = new Set(failed.map(({ error }) => error?.code));
  return (["journal_failed", "tool_timeout"] as const).find((code) => codes.has(code)) ?? "tool_failed";
}

/** Whether the model produced nothing but reasoning. */
export const isEmpty = ({ end, attempts }: Pick<Story, "end" | "attempts">): boolean =>
  end?.type === "run.finished" &&
  end.finish === "stop" &&
  attempts.length > 0 &&
  end.output === "" &&
  end.object === undefined;

function causeOfError(story: Story, error: ErrorJson): Cause {
  if (error.details?.breaker === "open") return "breaker_open";
  const known = error.code === "internal" ? undefined : causeOfCode(error.code);
  if (known === "worker_crashed") return crashOf(story);
  if (known === "tool_failed" && story.tools.some(isFailedAgent)) return "called_agent";
  if (known !== undefined) return known;
  if (error.op.includes("agent.output")) return "output_unfit";
  if (error.code === "not_found" && !error.op.includes("provider")) return "agent_missing";
  if (error.op.includes("provider") || error.details?.provider !== undefined) return causeOfProvider(error);
  return error.code === "internal" ? "internal" : "request_refused";
}

/** Who ended the process: a tool that called `process.exit`, or something else. */
const crashOf = ({ crashes }: Story): Cause =>
  crashes.some(({ name, tools }) => isExit(name) && tools.length > 0) ? "tool_exited" : "worker_crashed";

/** Whether `deathOf` reported an exit status rather than a signal. */
export const isExit = (name: string): boolean => name.startsWith("ended its process (status");

const isFailedAgent = ({ child, error }: ToolStory): boolean => child !== undefined && error !== undefined;

function slowest(story: Story): Cause | undefined {
  const [most] = story.shares.all;
  if (most === undefined || most.ms < noticeable) return undefined;
  // A merely slow answer needs no explanation if something else went wrong.
  const isAnswer = most.part === "providerStream" || most.part === "providerWait";
  if (isAnswer && most.ms < 1_000 && story.end !== undefined) return mishap(story);
  return refined(story, (most.part === "providerStream" ? outageIn(story, most.ms) : undefined) ?? most);
}

/** A long stream is not a fault; a journal that could not be written or a dead worker is. */
const outageIn = (story: Story, streamed: number): Share | undefined =>
  story.shares.all.find(
    ({ part, name, ms }) =>
      ms >= noticeable && ms >= streamed / 3 && (part === "down" || (part === "journal" && name !== "")),
  );

function refined(story: Story, { part, name }: Share): Cause {
  if (part === "failedAttempt") {
    const failed = story.attempts.findLast(({ model, error }) => model === name && error !== undefined);
    return failed?.error === undefined ? "provider_error" : causeOfProvider(failed.error);
  }
  if (part === "tool") {
    const tools = story.tools.filter((tool) => name.split(", ").includes(tool.name));
    // The tool's work was lost with the process.
    if (story.crashes.some((crash) => crash.tools.some((each) => name.split(", ").includes(each))))
      return crashOf(story);
    if (tools.some(({ child }) => child !== undefined)) return "called_agent";
    const cause = causeOfTools(tools);
    if (cause !== "tool_failed") return cause;
  }
  if (part === "down" && story.crashes.length > 0) return crashOf(story);
  if (part === "blocked" && isIdle(name)) return "process_stopped";
  if (part === "journal" && name !== "") return "journal_failed";
  if (part === "approval" && story.asked.some(isUnanswered)) return "unanswered";
  return causeOfPart(part);
}

/** What went wrong in a run that succeeded. */
function mishap(story: Story): Cause | undefined {
  const cut = story.attempts.some(({ finish }) => finish === "length");
  if (story.rejected.length > 0) return cut ? "arguments_cut" : "bad_arguments";
  if (story.asked.some(isUnanswered)) return "unanswered";
  if (story.asked.some(({ answer }) => answer?.approved === false)) return "denied";
  const failed = story.tools.filter(({ error }) => error !== undefined);
  if (failed.length > 0) return causeOfTools(failed);
  if (story.skipped.size > 0) return "breaker_open";
  if (story.attempts.some(({ error }) => error !== undefined)) return failoverOrRetry(story);
  if (isEmpty(story)) return "empty_answer";
  if (story.crashes.length > 0) return crashOf(story);
  if (story.resumes > 0) return "taken_over";
  return story.tools.some(({ cut }) => cut !== undefined) ? "result_cut" : undefined;
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

/** Whether an attempt failed by itself: what came before a person stopped it counts as streamed. */
export const isFailure = (error: { readonly code: string } | undefined): boolean =>
  error !== undefined && error.code !== "stream_interrupted";
