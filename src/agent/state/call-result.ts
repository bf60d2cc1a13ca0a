import type { FilePart, ImagePart } from "../../core/model/messages.ts";
import type { EventOf } from "../../core/run/events.ts";
import type { CallState } from "./round-state.ts";

/** The complete output of a truncated result, or the hash it is stored under. */
export type WholeOutput = string | { readonly hash: string };

/** A call's result as sent to the model; `whole` is set when that is truncated. */
export function resultOf(
  { changed }: CallState,
  event: EventOf<"tool.finished">,
): { readonly result: CallState["result"]; readonly whole: WholeOutput | undefined } {
  const all = event.output ?? (event.error ? `${event.error.code}: ${event.error.err}` : "");
  const { hash, length = all.length, shown = length } = event;
  const isCut = shown < length;
  // The model still sees its own arguments in the conversation, so tell it that others were used.
  const note = changed === undefined ? "" : `[a person changed the arguments to ${JSON.stringify(changed)}]\n`;
  const output = note + (isCut ? all.slice(0, shown) + cutNotice(event.call, length, shown) : all);
  const images = (event.images ?? []).map((image): ImagePart => ({ type: "image", ...image }));
  const files = (event.files ?? []).map((file): FilePart => ({ type: "file", ...file }));
  const whole = hash === undefined ? all : { hash };
  return { result: { ok: event.ok, output, images, files }, whole: isCut ? whole : undefined };
}

const cutNotice = (call: string, length: number, shown: number): string =>
  `\n[cut: ${shown} of ${length} characters are shown${readOn(call)}]`;

/** Hint for the model on reading the rest of a truncated result. */
export const readOn = (call: string): string => `; read_result with call "${call}" and an offset gives the rest`;
