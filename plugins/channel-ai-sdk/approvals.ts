import type { UiMessage } from "./messages.ts";

export interface Approval {
  readonly run: string;
  readonly seq: number;
  readonly call: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
}

/** Encodes the waiting run, the position where its stream continues, and the call. */
export const approvalId = (run: string, seq: number, call: string): string => `${run}/${seq}/${call}`;

/** The approval responses at the end of the last message, if any. */
export function approvalsIn(messages: readonly UiMessage[]): Approval[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [];
  const step = last.parts.slice(last.parts.findLastIndex((part) => part.type === "step-start") + 1);
  return step.flatMap(({ state, approval }) => {
    if (state !== "approval-responded" || approval?.approved === undefined) return [];
    const [, run, seq, call] = /^([^/]+)\/(\d+)\/(.+)$/.exec(approval.id) ?? [];
    if (run === undefined || call === undefined) return [];
    return [{ run, seq: Number(seq), call, approved: approval.approved, reason: approval.reason }];
  });
}
