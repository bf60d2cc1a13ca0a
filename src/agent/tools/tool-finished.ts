import { reasonsOf, VenturiError } from "../../core/errors/errors.ts";
import { withoutEntry } from "../../core/values/no-entries.ts";
import type { RunContext } from "../run/run-context.ts";
import type { CallState } from "../state/round-state.ts";
import type { Outcome, ToolContent } from "./outcome.ts";

/** Duration of a call and how much of it overlapped with the generation, ms. */
export interface ToolTime {
  readonly ms: number;
  readonly savedMs: number | undefined;
}

/** `limit`: characters of the output sent to the model. */
export function writeToolFinished(
  run: RunContext,
  { round, call, limit }: { round: number; call: CallState; limit: number },
  { outcome, time }: { outcome: Outcome; time: ToolTime },
): void {
  const spent = run.spentBy.get(call.call);
  withoutEntry(run.spentBy, call.call); // From here on the event accounts for this usage.
  run.emit({
    type: "tool.finished",
    round,
    call: call.call,
    name: call.name,
    ok: outcome.ok,
    ms: micro(time.ms),
    output: outcome.output,
    ...(outcome.output.length > limit || outcome.kept !== undefined ? { shown: limit } : {}),
    ...outcome.kept,
    ...(outcome.images.length > 0 ? { images: outcome.images.map((image) => ({ ...image })) } : {}),
    ...(outcome.files.length > 0 ? { files: outcome.files.map((file) => ({ ...file })) } : {}),
    ...(outcome.error === undefined ? {} : { error: outcome.error.toJSON() }),
    ...(spent === undefined ? {} : { ...spent, usage: { ...spent.usage } }),
    ...(time.savedMs === undefined ? {} : { savedMs: micro(time.savedMs) }),
  });
  if (!outcome.ok) {
    run.deps.log.warn("tool failed", {
      run: run.run,
      round,
      call: call.call,
      tool: call.name,
      code: outcome.error?.code ?? "tool_failed",
      reason: outcome.error && reasonsOf(outcome.error).join(": "),
      ms: Math.round(time.ms),
    });
  }
}

/** Moves large images and files, and output too long for the model, to the blob store. */
export async function keepContent(run: RunContext, outcome: Outcome, limit: number): Promise<Outcome> {
  const { output, images, files } = outcome;
  const text = output.length > limit ? await run.content.keepOutput(run.run, output) : undefined;
  if (images.length === 0 && files.length === 0 && text === undefined) return outcome;
  const keep = <T extends ToolContent>(item: T) => run.content.keepOne(run.run, item);
  return {
    ...outcome,
    images: await Promise.all(images.map(keep)),
    files: await Promise.all(files.map(keep)),
    ...(text === undefined ? {} : { output: output.slice(0, limit), kept: { ...text, length: output.length } }),
  };
}

/** The outcome of a call that was not executed. */
export function refused(code: VenturiError["code"], message: string): Outcome {
  const error = new VenturiError("tool.call", code, message);
  return { ok: false, output: `${code}: ${message}`, images: [], files: [], error };
}

const micro = (ms: number): number => Math.round(ms * 1000) / 1000;
