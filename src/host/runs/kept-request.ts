import type { ContentStore } from "../../agent/run/content.ts";
import { inputMessages } from "../../agent/state/input-messages.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { excessOf, recordLimits, valueLimits } from "../../core/values/value-limits.ts";

/** Refuses content hashes in a request from outside. */
export function checked(content: ContentStore, request: RunRequest): RunRequest {
  const { input, instructions } = request;
  content.check(input.messages ?? []);
  if (instructions !== undefined) content.check([instructions]);
  return request;
}

/** Moves large texts, images and files to the blob store; the request and `run.started` refer to them. */
export async function keptRequest(content: ContentStore, run: string, request: RunRequest): Promise<RunRequest> {
  const { instructions } = request;
  const input = await keptInput(content, run, request.input);
  const [kept] = instructions === undefined ? [] : await content.keep(run, [instructions]);
  const stored = { ...request, input, ...(kept === undefined ? {} : { instructions: kept }) };
  const excess = content.isApart ? excessOf(stored, { ...valueLimits, nodes: recordLimits.nodes }) : undefined;
  if (excess === undefined) return stored;
  const message = `the request, without its large texts, images and files, ${excess}: send fewer variables, arguments or short texts`;
  throw new VenturiError("run.start", "too_large", message);
}

/** A plain text input stays a string, unless it was moved to the blob store: then it becomes the last message. */
async function keptInput(content: ContentStore, run: string, input: RunInput): Promise<RunInput> {
  const { text, ...rest } = input;
  const given = inputMessages(input);
  const messages = await content.keep(run, given);
  if (messages === given) return input;
  const isKept = messages.at(-1)?.parts.some((part) => part.type === "text" && part.hash !== undefined) ?? false;
  if (text === undefined || isKept) return { ...rest, messages: [...messages] };
  return { ...rest, text, messages: messages.slice(0, -1) };
}
