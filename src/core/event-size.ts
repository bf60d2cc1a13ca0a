import type { RunEvent } from "./events.ts";

const envelope = 96;

/** Approximate size of an event without encoding it: only long fields are measured. */
export function eventSize(event: RunEvent): number {
  switch (event.type) {
    case "text.delta":
    case "refusal.delta":
    case "tool.output":
      return envelope + event.text.length;
    case "reasoning.delta":
      return envelope + event.text.length + (event.encrypted?.length ?? 0);
    case "tool_call.delta":
    case "tool_call.rejected":
      return envelope + event.arguments.length;
    case "tool.finished":
      return envelope + (event.output?.length ?? 0) + contentBytes(event.images) + contentBytes(event.files);
    case "run.finished":
    case "run.failed":
      return envelope + event.output.length;
    default:
      return envelope * 4;
  }
}

function contentBytes(items: readonly { readonly data?: string }[] | undefined): number {
  let bytes = 0;
  if (items) for (const { data } of items) bytes += data?.length ?? envelope;
  return bytes;
}
