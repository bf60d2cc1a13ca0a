import { z } from "zod";
import { type Code, isCode } from "./codes.ts";
import { Message } from "./messages.ts";
import { Spent, Usage } from "./usage.ts";

/**
 * A run is a list of these. `seq` counts 1, 2, 3 … without a gap within a run; a terminal event is the last one, and there
 * is exactly one. Deltas are never repeated: the full text stands only in the terminal event.
 */
const base = { run: z.string(), seq: z.number().int().positive(), at: z.number() };
const inRound = { ...base, round: z.number().int().positive() };
const ofCall = { ...inRound, call: z.string() };

export const ErrorBody = z.strictObject({
  op: z.string(),
  code: z.custom<Code>(isCode),
  err: z.string(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
});

/** Where a run's wall time went, in ms; the parts add up to it. */
export const Timing = z.strictObject({
  /** From the request to the first chunk. */
  providerWait: z.number(),
  providerStream: z.number(),
  /** Between two tries of a generation. */
  retryWait: z.number().default(0),
  tool: z.number(),
  approval: z.number(),
  /** The run waited for its client. */
  client: z.number(),
  /** The process did nothing else: something blocked its event loop. */
  stalled: z.number().default(0),
  runtime: z.number(),
});
export type Timing = z.output<typeof Timing>;

export const noTiming: Timing = Object.freeze({
  providerWait: 0,
  providerStream: 0,
  retryWait: 0,
  tool: 0,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 0,
});

/** What a run is asked. Plain text, a conversation so far, values for the agent's declared inputs. */
export const RunInput = z.strictObject({
  text: z.string().exactOptional(),
  messages: z.array(Message).exactOptional(),
  variables: z.record(z.string(), z.unknown()).exactOptional(),
});
export type RunInput = z.output<typeof RunInput>;

/** A call that the run leaves to its client (a tool the client sent along). */
export const PendingCall = z.strictObject({
  call: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** The arguments as the model wrote them, when they are no JSON object: cut short, or wrong. */
  raw: z.string().exactOptional(),
});
export type PendingCall = z.output<typeof PendingCall>;

/** What a tool gave beside text: the bytes as base64, or the hash under which the journal keeps them. */
const ToolContent = z.strictObject({
  mediaType: z.string(),
  data: z.string().exactOptional(),
  hash: z.string().exactOptional(),
  size: z.number().int().exactOptional(),
});

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

export const RunEvent = z.discriminatedUnion("type", [
  event("run.started", {
    ...base,
    agent: z.string(),
    session: z.string().exactOptional(),
    input: RunInput,
    config: z.string().exactOptional(),
    trace: z.string().exactOptional(),
    /** The run that called this one as a tool, and its depth below the first. */
    parent: z.strictObject({ run: z.string(), call: z.string(), depth: z.number() }).exactOptional(),
    metadata: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  event("round.started", {
    ...inRound,
    model: z.string(),
    provider: z.string().exactOptional(),
    attempt: z.number().int(),
    /** What of the request this model is not told: its wire has no place for it. */
    warnings: z.array(z.string()).exactOptional(),
    /** Models of the chain that were passed over because their provider's breaker is open. */
    skipped: z.array(z.string()).exactOptional(),
  }),
  event("text.delta", { ...inRound, text: z.string(), signature: z.string().exactOptional() }),
  event("refusal.delta", { ...inRound, text: z.string() }),
  event("reasoning.delta", {
    ...inRound,
    text: z.string(),
    part: z.number().int().exactOptional(),
    signature: z.string().exactOptional(),
    encrypted: z.string().exactOptional(),
    id: z.string().exactOptional(),
  }),
  event("provider.activity", {
    ...inRound,
    kind: z.enum(["server_tool", "citation", "part"]),
    wire: z.string(),
    data: z.unknown(),
    keep: z.boolean().exactOptional(),
  }),
  event("tool_call.started", {
    ...ofCall,
    name: z.string(),
    index: z.number().int(),
    /** A call of the client's own tool: it is not run here. */
    client: z.literal(true).exactOptional(),
  }),
  event("tool_call.delta", { ...ofCall, arguments: z.string() }),
  event("tool_call.ready", {
    ...ofCall,
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
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
    /** Whole, whatever its size; the model is told the first `shown` characters when that is set. */
    output: z.string().exactOptional(),
    shown: z.number().int().exactOptional(),
    images: z.array(ToolContent).exactOptional(),
    files: z.array(ToolContent.extend({ name: z.string().exactOptional() })).exactOptional(),
    error: ErrorBody.exactOptional(),
    ms: z.number(),
    /** How much of its time lay before the end of the generation: what starting early saved. Absent when it saved nothing. */
    savedMs: z.number().exactOptional(),
    /** Tokens that the tool itself used, such as those of an agent it called. */
    usage: Usage.exactOptional(),
  }),
  event("approval.requested", {
    ...ofCall,
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    reason: z.string().exactOptional(),
    /** When silence becomes a no, ms since the epoch. */
    until: z.number().exactOptional(),
    /** Whose question it is when a tool passes on another run's; `call` is then this run's own name for it. */
    origin: z.strictObject({ run: z.string(), call: z.string(), agent: z.string() }).exactOptional(),
  }),
  event("approval.resolved", {
    ...ofCall,
    approved: z.boolean(),
    reason: z.string().exactOptional(),
    by: z.string().exactOptional(),
    /** Number of the signal that resolved it; absent when it timed out. */
    signal: z.number().int().exactOptional(),
  }),
  /** A message sent into the running run; the next round sees it. */
  event("message.added", { ...base, message: Message, signal: z.number().int().exactOptional() }),
  /** Older turns were replaced by a summary, to fit the model's context. */
  event("context.compacted", { ...base, dropped: z.number().int(), summary: z.string().exactOptional() }),
  /** A worker took the run up again after another had died or given it back. */
  event("run.resumed", { ...base, epoch: z.number().int() }),
  /** An attempt at a generation failed. With `retryMs` the same model is asked again after that time. */
  event("generation.failed", {
    ...inRound,
    attempt: z.number().int(),
    model: z.string(),
    error: ErrorBody,
    /** What the provider charges for it, as reported or estimated from what arrived. */
    usage: Usage.exactOptional(),
    retryMs: z.number().exactOptional(),
  }),
  event("round.retracted", { ...inRound, attempt: z.number().int(), reason: z.string() }),
  /** The generation's good end: durable before an effectful tool starts, so that a resumed run does not generate again. */
  event("generation.finished", {
    ...inRound,
    attempt: z.number().int(),
    finish: z.string(),
    raw: z.string().exactOptional(),
    usage: Usage,
    responseId: z.string().exactOptional(),
    responseModel: z.string().exactOptional(),
  }),
  /** The generation and all its tool calls are settled. */
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
    spent: Spent.exactOptional(),
    rounds: z.number().int(),
    timing: Timing,
  }),
  event("run.failed", {
    ...base,
    error: ErrorBody,
    output: z.string(),
    usage: Usage,
    spent: Spent.exactOptional(),
    rounds: z.number().int(),
    timing: Timing,
  }),
]);
export type RunEvent = z.output<typeof RunEvent>;
export type EventType = RunEvent["type"];
export type EventOf<T extends EventType> = Extract<RunEvent, { type: T }>;
export type TerminalEvent = EventOf<"run.finished" | "run.failed">;

type Body<E> = E extends RunEvent ? Omit<E, "run" | "seq" | "at"> : never;
/** An event before its log gives it a place. */
export type EventBody = Body<RunEvent>;

export const isTerminal = (event: RunEvent): event is TerminalEvent =>
  event.type === "run.finished" || event.type === "run.failed";

/** Events that hold nothing but text and numbers of ours, many of them in a run. */
export const textOnly = (type: EventType): boolean =>
  type === "text.delta" ||
  type === "tool_call.delta" ||
  type === "reasoning.delta" ||
  type === "tool.output" ||
  type === "refusal.delta";

/** How many more questions are open after these events than before them. Journals keep the sum with the run. */
export function questionsOpened(events: readonly RunEvent[]): number {
  let opened = 0;
  for (const { type } of events) {
    if (type === "approval.requested") opened += 1;
    else if (type === "approval.resolved") opened -= 1;
  }
  return opened;
}

/** Length of the event's JSON if anyone has asked for it, else of the text it carries. */
export function encodedSize(event: RunEvent): number {
  const json = Encoded.of(event);
  if (json !== undefined) return json.length;
  return "text" in event ? event.text.length : 0;
}

/** A constructor that returns what it is given lets the class below put its private field on an object of another's making. */
const Given = class {
  constructor(event: RunEvent) {
    // biome-ignore lint/correctness/noConstructorReturn: see above
    return event;
  }
} as new (
  event: RunEvent,
) => object;

/** Keeps an event's JSON with the event, unseen by copies and comparisons. A WeakMap costs twice what the encoding does. */
class Encoded extends Given {
  readonly #json: string;

  constructor(event: RunEvent, json: string) {
    super(event);
    this.#json = json;
  }

  static of(event: RunEvent): string | undefined {
    return #json in event ? event.#json : undefined;
  }

  static encode(event: RunEvent): string {
    if (#json in event) return event.#json;
    const json = JSON.stringify(event);
    new Encoded(event, json);
    return json;
  }
}

/** The event's JSON, encoded once however many journals and clients ask for it. */
export const encodeEvent: (event: RunEvent) => string = Encoded.encode;
