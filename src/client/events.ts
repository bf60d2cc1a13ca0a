import type { z } from "zod";
import type { Digest as DigestSchema } from "../core/run/digest.ts";
import type { Timing as TimingSchema } from "../core/run/event-fields.ts";
import type { RunEvent as EventSchema } from "../core/run/events.ts";
import type { FeedItem as FeedSchema } from "../core/run/feed.ts";

/** Inferred from the schemas by which the service checks its events. Types only: nothing of the runtime gets into a page. */
export type {
  FilePart,
  ImagePart,
  Message,
  OpaquePart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../core/model/messages.ts";
export type { Spent, Usage } from "../core/model/usage.ts";
export type { ErrorBody, PendingCall, RunInput } from "../core/run/event-fields.ts";

/** The input type: runs of earlier releases lack fields that have a default now. */
export type RunEvent = z.input<typeof EventSchema>;
export type FeedItem = z.input<typeof FeedSchema>;
export type Digest = z.input<typeof DigestSchema>;
export type Timing = z.input<typeof TimingSchema>;

export type EventType = RunEvent["type"];
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;
export type TerminalEvent = EventOf<"run.finished" | "run.failed">;

export type RunStarted = EventOf<"run.started">;
export type RoundStarted = EventOf<"round.started">;
export type TextDelta = EventOf<"text.delta">;
export type RefusalDelta = EventOf<"refusal.delta">;
export type ReasoningDelta = EventOf<"reasoning.delta">;
export type ProviderActivity = EventOf<"provider.activity">;
export type ToolCallStarted = EventOf<"tool_call.started">;
export type ToolCallDelta = EventOf<"tool_call.delta">;
export type ToolCallReady = EventOf<"tool_call.ready">;
export type ToolCallRejected = EventOf<"tool_call.rejected">;
export type ToolStarted = EventOf<"tool.started">;
export type ToolOutput = EventOf<"tool.output">;
export type ToolFinished = EventOf<"tool.finished">;
export type ApprovalRequested = EventOf<"approval.requested">;
export type ApprovalResolved = EventOf<"approval.resolved">;
export type QuestionAsked = EventOf<"question.asked">;
export type QuestionAnswered = EventOf<"question.answered">;
export type ToolsFound = EventOf<"tools.found">;
export type AgentChanged = EventOf<"agent.changed">;
export type BudgetWarned = EventOf<"budget.warned">;
export type BudgetExceeded = EventOf<"budget.exceeded">;
export type GuardDecided = EventOf<"guard.decided">;
export type AgentRevised = EventOf<"agent.revised">;
export type MessageAdded = EventOf<"message.added">;
export type ContextCompacted = EventOf<"context.compacted">;
export type MemoryChanged = EventOf<"memory.changed">;
export type MemoryRecalled = EventOf<"memory.recalled">;
export type RunPaused = EventOf<"run.paused">;
export type RunContinued = EventOf<"run.continued">;
export type RunResumed = EventOf<"run.resumed">;
export type GenerationFailed = EventOf<"generation.failed">;
export type RoundRetracted = EventOf<"round.retracted">;
export type GenerationFinished = EventOf<"generation.finished">;
export type RoundFinished = EventOf<"round.finished">;
export type RunFinished = EventOf<"run.finished">;
export type RunFailed = EventOf<"run.failed">;

type FeedOf<Type extends FeedItem["type"]> = Extract<FeedItem, { type: Type }>;
export type FeedOpened = FeedOf<"feed.opened">;
export type FeedGap = FeedOf<"feed.gap">;
export type FeedRunStarted = FeedOf<"run.started">;
export type FeedRoundStarted = FeedOf<"round.started">;
export type FeedApprovalRequested = FeedOf<"approval.requested">;
export type FeedApprovalResolved = FeedOf<"approval.resolved">;
export type FeedQuestionAsked = FeedOf<"question.asked">;
export type FeedQuestionAnswered = FeedOf<"question.answered">;
export type FeedRunFinished = FeedOf<"run.finished">;
export type FeedRunFailed = FeedOf<"run.failed">;
export type FeedTick = FeedOf<"tick">;
