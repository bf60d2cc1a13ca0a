import { VenturiError } from "../core/errors/errors.ts";
import type { Runs } from "../core/ports/runs.ts";
import type { PendingQuestion } from "../core/run/questions.ts";
import { isJsonObject } from "./json-rpc.ts";

const mostShown = 2_000;

/** The question a person is asked, as text. */
export function questionWords(agent: string | undefined, question: PendingQuestion): string {
  const { name, arguments: given, reason, origin, message, url } = question;
  // The address goes into the text: few clients open URLs themselves, and only those that announce it may be sent one.
  if (message !== undefined) return url === undefined ? message : `${message}\n${url}`;
  const shown = JSON.stringify(given);
  const values = shown.length > mostShown ? `${shown.slice(0, mostShown)}…` : shown;
  const what = `${origin?.agent ?? agent ?? "The agent"} wants to call ${name} with ${values}`;
  return reason === undefined ? what : `${what}\n${reason}`;
}

/** A person's reply: `content` holds the values of a form, or `{ answer }` for a text question. */
export interface Reply {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: unknown;
  readonly reason?: string;
}

export interface GivenReply {
  readonly call: string;
  readonly reply: Reply;
  readonly by: string;
}

/** Passes a person's answer to the run. Rejects with `invalid_input` if the values do not fit; the question stays open. */
export async function answerQuestion(runs: Runs, run: string, { call, reply, by }: GivenReply): Promise<void> {
  const open = (await runs.pending(run)).find((question) => question.call === call);
  if (open === undefined) return; // Already answered elsewhere.
  await runs.signal(run, "approve", { call, by, ...verdictOf(open, reply) }, `approve:${call}`);
}

/** As `answerQuestion`, but returns false if the values do not fit. */
export async function tryAnswer(runs: Runs, run: string, given: GivenReply): Promise<boolean> {
  try {
    await answerQuestion(runs, run, given);
    return true;
  } catch (thrown) {
    if (VenturiError.is(thrown, "invalid_input")) return false;
    throw thrown;
  }
}

function verdictOf({ kind, schema, url, arguments: asked }: PendingQuestion, { action, content, reason }: Reply) {
  if (action !== "accept") {
    const said = action === "decline" ? "the user declined" : "the user dismissed the question";
    return { approved: false, reason: reason ?? said };
  }
  if (kind !== "approve") {
    const isEmpty = !isJsonObject(content) || Object.keys(content).length === 0;
    if (url !== undefined && isEmpty) return { approved: true };
    return { approved: true, answer: schema === undefined && isJsonObject(content) ? content.answer : content };
  }
  const isChanged = isJsonObject(content) && Object.keys(content).length > 0;
  return { approved: true, ...(isChanged ? { arguments: { ...asked, ...content } } : {}) };
}
