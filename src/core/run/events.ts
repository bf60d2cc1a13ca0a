import { z } from "zod";
import { Message } from "../model/messages.ts";
import { Inherited, Spent, Usage } from "../model/usage.ts";
import {
  base,
  cost,
  costs,
  ErrorBody,
  Hedged,
  inRound,
  native,
  ofBudget,
  ofCall,
  PendingCall,
  pausing,
  RunInput,
  skills,
  Timing,
  ToolContent,
} from "./event-fields.ts";
import { GuardVerdict } from "./guard-verdict.ts";
import { memoryChanged, memoryRecalled } from "./memory-events.ts";
import { approvalRequested, approvalResolved, questionAnswered, questionAsked } from "./question-events.ts";

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

/**
 * A run is a list of these. `seq` counts 1, 2, 3 … without gaps within a run; exactly one terminal event comes last. Deltas are
 * not repeated: only the terminal event has the full text.
 */
export const RunEvent = z.discriminatedUnion("type", [
  event("run.started", {
    ...base,
    agent: z.string(),
    session: z.string().exactOptional(),
    input: RunInput,
    config: z.string().exactOptional(),
    /** Instructions written for this run by the agent's function. */
    instructions: z.string().exactOptional(),
    skills,
    trace: z.string().exactOptional(),
    /** The run that called this one as a tool, and the depth below the root run. */
    parent: z.strictObject({ run: z.string(), call: z.string(), depth: z.number() }).exactOptional(),
    /** The original run and the event after which it was forked. */
    fork: z.strictObject({ run: z.string(), after: z.number().int() }).exactOptional(),
    /** Id of the key that started it. */
    by: z.string().exactOptional(),
    metadata: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  event("round.started", {
    ...inRound,
    model: z.string(),
    provider: z.string().exactOptional(),
    attempt: z.number().int(),
    /** Request fields that were dropped because the model's wire cannot express them. */
    warnings: z.array(z.string()).exactOptional(),
    /** Models of the chain that were skipped because their provider's breaker is open. */
    skipped: z.array(z.string()).exactOptional(),
    /** Why routing chose this model: `cheapest: …`, `sticky: …`, `hedge: …`, `split: …`, or what another one lacked. */
    reason: z.string().exactOptional(),
    /** The entry of `models` with a split, and the member chosen for the session. */
    split: z.strictObject({ of: z.string(), chose: z.string() }).exactOptional(),
  }),
  event("text.delta", { ...inRound, text: z.string(), signature: z.string().exactOptional(), native }),
  event("refusal.delta", { ...inRound, text: z.string(), native }),
  event("reasoning.delta", {
    ...inRound,
    text: z.string(),
    part: z.number().int().exactOptional(),
    signature: z.string().exactOptional(),
    encrypted: z.string().exactOptional(),
    id: z.string().exactOptional(),
    native,
  }),
  event("provider.activity", {
    ...inRound,
    /** `response`: fields of the whole answer. `fields`: of the open element. */
    kind: z.enum(["server_tool", "citation", "part", "response", "fields"]),
    wire: z.string(),
    data: z.unknown(),
    keep: z.boolean().exactOptional(),
    /** Names of fields too large to keep. */
    omitted: z.array(z.string()).exactOptional(),
  }),
  event("tool_call.started", {
    ...ofCall,
    name: z.string(),
    index: z.number().int(),
    /** A call of a client tool; not executed here. */
    client: z.literal(true).exactOptional(),
    native,
  }),
  event("tool_call.delta", { ...ofCall, arguments: z.string() }),
  event("tool_call.ready", {
    ...ofCall,
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    /** The arguments' JSON as the model wrote it, if encoding `arguments` would change it. */
    text: z.string().exactOptional(),
    signature: z.string().exactOptional(),
  }),
  event("tool_call.rejected", {
    ...ofCall,
    name: z.string(),
    arguments: z.string(),
    error: ErrorBody,
    signature: z.string().exactOptional(),
  }),
  event("tool.started", { ...ofCall, name: z.string(), attempt: z.number().int(), idempotencyKey: z.string() }),
  event("tool.output", { ...ofCall, text: z.string() }),
  event("tool.finished", {
    ...ofCall,
    name: z.string(),
    ok: z.boolean(),
    /** With `shown` set, the model gets only the first `shown` characters. Complete unless it has a `hash`. */
    output: z.string().exactOptional(),
    shown: z.number().int().exactOptional(),
    /**
     * For a large output: SHA-256 and size in bytes of the blob with the complete output, and its length in characters; `output` is its
     * beginning.
     */
    hash: z.string().exactOptional(),
    size: z.number().int().exactOptional(),
    length: z.number().int().exactOptional(),
    images: z.array(ToolContent).exactOptional(),
    files: z.array(ToolContent.extend({ name: z.string().exactOptional() })).exactOptional(),
    error: ErrorBody.exactOptional(),
    ms: z.number(),
    /** How much of the execution overlapped with the generation: the time saved by starting early. Absent when zero. */
    savedMs: z.number().exactOptional(),
    /** Tokens used by the tool itself, for example by an agent it called. */
    usage: Usage.exactOptional(),
    /** Their cost. */
    cost,
  }),
  event("approval.requested", { ...ofCall, ...approvalRequested }),
  event("approval.resolved", { ...ofCall, ...approvalResolved }),
  event("question.asked", { ...ofCall, ...questionAsked }),
  event("question.answered", { ...ofCall, ...questionAnswered }),
  /** Tools that `find_tools` found; offered from the next round on. */
  event("tools.found", { ...ofCall, names: z.array(z.string()) }),
  /** A call handed the run to another agent, which takes over with the next round. */
  event("agent.changed", { ...ofCall, agent: z.string(), instructions: z.string().exactOptional(), skills }),
  /** A budget reached 80 % of its limit; reported once per period, by the run that noticed it. */
  event("budget.warned", ofBudget),
  /** A budget had no room for a generation; reported once per period. `onExceed` decides about the run. */
  event("budget.exceeded", ofBudget),
  /** A guard decided about a text. `round`: set if within a round. `call`: whose arguments or result it was. */
  event("guard.decided", {
    ...base,
    round: z.number().int().positive().exactOptional(),
    call: z.string().exactOptional(),
    ...GuardVerdict.shape,
  }),
  /** The run continues with another revision of its agent than before. */
  event("agent.revised", { ...base, agent: z.string(), revision: z.string() }),
  /** A message sent into the running run; the next round includes it. */
  event("message.added", {
    ...base,
    message: Message,
    /** Id of the key that sent it. */
    by: z.string().exactOptional(),
    signal: z.number().int().exactOptional(),
  }),
  /** Part of the conversation is no longer sent unchanged, to fit the model's context. */
  event("context.compacted", {
    ...base,
    /** Number of messages left out from here on. */
    dropped: z.number().int(),
    /** Sent in place of the first `range.messages` messages from here on, also by later runs of the session. */
    summary: z.string().exactOptional(),
    /** `session`: how many of the messages precede this run. */
    range: z.strictObject({ messages: z.number().int(), session: z.number().int() }).exactOptional(),
    /** Calls whose results are sent as references, resolved by `read_result`. */
    results: z.array(z.string()).exactOptional(),
    /** The summary's model and cost. */
    model: z.string().exactOptional(),
    usage: Usage.exactOptional(),
    cost,
    /** Why there is no summary; the messages were dropped. */
    error: ErrorBody.exactOptional(),
  }),
  event("memory.changed", { ...ofCall, ...memoryChanged }),
  /** Without a call: recalled before the first round, by the agent's `memory.recall`; every request of the run contains its notes. */
  event("memory.recalled", {
    ...base,
    round: z.number().int().positive().exactOptional(),
    call: z.string().exactOptional(),
    ...memoryRecalled,
    /** The query vector's model and cost. */
    model: z.string().exactOptional(),
    usage: Usage.exactOptional(),
    cost,
    /** Why nothing was found, or only by words. */
    error: ErrorBody.exactOptional(),
  }),
  /** The run was paused between two rounds. It is parked until `run.continued`. */
  event("run.paused", { ...base, ...pausing, reason: z.string().exactOptional() }),
  event("run.continued", { ...base, ...pausing }),
  /** A worker resumed the run after another one died or released it. */
  event("run.resumed", { ...base, epoch: z.number().int(), trace: z.string().exactOptional() }),
  /** An attempt at a generation failed. With `retryMs` the same model is retried after that time. */
  event("generation.failed", {
    ...inRound,
    attempt: z.number().int(),
    model: z.string(),
    error: ErrorBody,
    /** Tokens charged by the provider, as reported or estimated from what arrived. */
    usage: Usage.exactOptional(),
    cost,
    retryMs: z.number().exactOptional(),
    hedged: Hedged.exactOptional(),
  }),
  event("round.retracted", { ...inRound, attempt: z.number().int(), reason: z.string() }),
  /** A generation succeeded. Durable before an effectful tool starts, so that a resumed run does not generate again. */
  event("generation.finished", {
    ...inRound,
    attempt: z.number().int(),
    finish: z.string(),
    raw: z.string().exactOptional(),
    usage: Usage,
    cost,
    hedged: Hedged.exactOptional(),
    /** A cached answer to the same request; nothing was requested or charged. */
    cached: z.literal(true).exactOptional(),
    responseId: z.string().exactOptional(),
    responseModel: z.string().exactOptional(),
    /** The usage object exactly as the vendor sent it. */
    native,
  }),
  /** The generation and all its tool calls have settled. */
  event("round.finished", { ...inRound, finish: z.string(), usage: Usage }),
  event("run.finished", {
    ...base,
    finish: z.string(),
    output: z.string(),
    /** The validated object, when the agent has an output schema. */
    object: z.unknown().exactOptional(),
    /** Calls left to the client. */
    calls: z.array(PendingCall).exactOptional(),
    usage: Usage,
    ...costs,
    spent: Spent.exactOptional(),
    inherited: Inherited.exactOptional(),
    rounds: z.number().int(),
    timing: Timing,
  }),
  event("run.failed", {
    ...base,
    error: ErrorBody,
    output: z.string(),
    usage: Usage,
    ...costs,
    spent: Spent.exactOptional(),
    inherited: Inherited.exactOptional(),
    rounds: z.number().int(),
    timing: Timing,
  }),
]);
export type RunEvent = z.output<typeof RunEvent>;
export type EventType = RunEvent["type"];
export type EventOf<T extends EventType> = Extract<RunEvent, { type: T }>;
export type TerminalEvent = EventOf<"run.finished" | "run.failed">;

type Body<E> = E extends RunEvent ? Omit<E, "run" | "seq" | "at"> : never;
/** An event before the log assigns run, seq and time. */
export type EventBody = Body<RunEvent>;

/** An event that a memory tool may record. */
export type MemoryEvent =
  | Omit<Body<EventOf<"memory.changed">>, "round" | "call" | "waited">
  | Omit<Body<EventOf<"memory.recalled">>, "round" | "call" | "waited">;

/** How a run ended. A run that was stopped ends with `run.failed` and the code of an interruption. */
export const outcomes = ["finished", "failed", "cancelled"] as const;
export type Outcome = (typeof outcomes)[number];

export const outcomeOf = (event: TerminalEvent): Outcome =>
  event.type === "run.finished" ? "finished" : event.error.code === "stream_interrupted" ? "cancelled" : "failed";

export const isTerminal = (event: RunEvent): event is TerminalEvent =>
  event.type === "run.finished" || event.type === "run.failed";

/** Frequent events that contain only text and our own numbers. */
export const textOnly = (type: EventType): boolean =>
  type === "text.delta" ||
  type === "tool_call.delta" ||
  type === "reasoning.delta" ||
  type === "tool.output" ||
  type === "refusal.delta";

/** Whether the event is more than a stream delta: what an outline of the run needs. */
export const isStep = (event: RunEvent): boolean => !textOnly(event.type) && event.type !== "provider.activity";
