import { callSettings, complaintsOf, parseUntrusted } from "venturi/internal";
import { VenturiError } from "venturi/plugin";
import { RunInput } from "venturi/plugin/channel";
import { z } from "zod";

const id = z.string().max(256).optional().describe("the client's own name for this, sent back with the answer");
const run = z.string();
const since = z.number().optional().describe("that of the question; refused when the call has been asked about again");
const speech = z.boolean().default(false).describe("audio of what is said, on a socket that has a voice");
const sentences = z.boolean().default(false).describe("whole sentences instead of pieces of text, for speech");

const as = z
  .enum(["messages", "events"])
  .default("messages")
  .describe("`events`: committed events of the journal, in batches, word for word");

/** Messages from the client. */
export const Command = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("run"),
    id,
    agent: z.string().min(1),
    input: z.union([z.string(), RunInput]),
    session: z.string().min(1).max(256).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    limits: z.record(z.string(), z.unknown()).optional(),
    ...callSettings,
    key: z.string().min(1).max(256).optional().describe("idempotency key"),
    as,
    sentences,
    speech,
  }),
  z.strictObject({
    type: z.literal("subscribe"),
    id,
    run,
    after: z.number().int().nonnegative().default(0),
    as,
    sentences,
    speech,
  }),
  z.strictObject({ type: z.literal("unsubscribe"), run }),
  z.strictObject({ type: z.literal("feed"), id, agent: z.string().min(1).optional() }),
  z.strictObject({ type: z.literal("unfeed") }),
  z.strictObject({ type: z.literal("cancel"), id, run, reason: z.string().max(1000).optional() }),
  z.strictObject({
    type: z.literal("interrupt"),
    id,
    run,
    playedMs: z.number().nonnegative().optional().describe("how much audio was played, where the client knows"),
  }),
  z.strictObject({
    type: z.literal("approve"),
    id,
    run,
    call: z.string(),
    approved: z.boolean(),
    reason: z.string().max(4000).optional(),
    arguments: z.record(z.string(), z.unknown()).optional().describe("what the tool is called with instead"),
    for: z.literal("run").optional().describe("allow all further calls of this tool in this run too"),
    since,
  }),
  z.strictObject({
    type: z.literal("answer"),
    id,
    run,
    call: z.string(),
    answer: z.unknown().optional().describe("of a question; has to fit its schema and choices"),
    decline: z.boolean().optional(),
    reason: z.string().max(4000).optional(),
    since,
  }),
  z.strictObject({ type: z.literal("message"), id, run, text: z.string().min(1) }),
  z.strictObject({ type: z.literal("pause"), id, run, reason: z.string().max(4000).optional() }),
  z.strictObject({ type: z.literal("resume"), id, run }),
  z.strictObject({ type: z.literal("ping"), id }),
]);
export type Command = z.output<typeof Command>;

export function parseMessage(text: string | undefined): unknown {
  if (text === undefined) throw new VenturiError("socket.receive", "invalid_input", "messages are JSON text");
  return parseUntrusted(text, { depth });
}

const depth = 64;

/** The client's name for a message, also for one that cannot be accepted: its sender waits for an answer with this name. */
export function idIn(sent: unknown): string | undefined {
  const given = typeof sent === "object" && sent !== null && "id" in sent ? id.safeParse(sent.id) : undefined;
  return given?.data;
}

export function parseCommand(sent: unknown): Command {
  const parsed = Command.safeParse(sent);
  if (parsed.success) return parsed.data;
  const [first] = complaintsOf(Command, sent, parsed.error);
  throw new VenturiError("socket.receive", "invalid_input", `${first?.path || "message"}: ${first?.message}`);
}

/** An approval or an answer, as the run takes it. */
export function approvalOf(command: Extract<Command, { type: "approve" | "answer" }>) {
  const { call, reason, since } = command;
  const why = { ...(reason === undefined ? {} : { reason }), ...(since === undefined ? {} : { since }) };
  if (command.type === "answer") {
    const { answer, decline = false } = command;
    return { call, approved: !decline, ...why, ...(answer === undefined ? {} : { answer }) };
  }
  const { approved, arguments: changed, for: scope } = command;
  const more = {
    ...(changed === undefined ? {} : { arguments: changed }),
    ...(scope === undefined ? {} : { for: scope }),
  };
  return { call, approved, ...why, ...more };
}
