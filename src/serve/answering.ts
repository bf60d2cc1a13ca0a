import { VenturiError } from "../core/errors/errors.ts";
import type { Runs } from "../core/ports/runs.ts";
import type { PendingQuestion } from "../core/run/questions.ts";
import { isJsonObject } from "./json-rpc.ts";

const mostShown = 2_000;

/** What a person is asked, in words. */
export function questionWords(agent: string | undefined, question: PendingQuestion): string {
  const { name, arguments: given, reason, origin, message, url } = question;
  // Few clients open addresses themselves, and only those that say so may be sent one; everybody can read it.
  if (message !== undefined) return url === undefined ? message : `${message}\n${url}`;
  const shown = JSON.stringify(given);
  const values = shown.length > mostShown ? `${shown.slice(0, mostShown)}…` : shown;
  const what = `${origin?.agent ?? agent ?? "The agent"} wants to call ${name} with ${values}`;
  return reason === undefined ? what : `${what}\n${reason}`;
}

/** What a person said: `content` are the values of a form, or `{ answer }` where a text was asked for. */
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

/** Passes a person's answer on to the run. Rejects with `invalid_input` for values that do not fit: the question stays open. */
export async function answerQuestion(runs: Runs, run: string, { call, reply, by }: GivenReply): Promise<void> {
  const open = (await runs.pending(run)).find((question) => question.call === call);
  if (open === undefined) return; // answered elsewhere
  await runs.signal(run, "approve", { call, by, ...verdictOf(open, reply) }, `approve:${call}`);
}

/** As `answerQuestion`; false for values that do not fit. */
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
