import { z } from "zod";
import type { UiMessage } from "./messages.ts";

/** A decision about a call, or the answer to a question. */
export interface Approval {
  readonly run: string;
  readonly seq: number;
  readonly call: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
  readonly answer?: unknown;
}

/** A question's part that the page has filled with the answer. Those that the service itself wrote have no `seq`. */
const Answered = z.object({
  run: z.string(),
  seq: z.number(),
  call: z.string(),
  answered: z.boolean(),
  answer: z.unknown().optional(),
  reason: z.string().optional(),
});

/** Encodes the waiting run, the position where its stream continues, and the call. */
export const approvalId = (run: string, seq: number, call: string): string => `${run}/${seq}/${call}`;

/** The approval responses and answers at the end of the last message, if any. */
export function approvalsIn(messages: readonly UiMessage[]): Approval[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [];
  const step = last.parts.slice(last.parts.findLastIndex((part) => part.type === "step-start") + 1);
  return step.flatMap(({ type, data, state, approval }): Approval[] => {
    if (type === "data-question") {
      const { success, data: given } = Answered.safeParse(data);
      if (!success) return [];
      const { answered: approved, ...answer } = given;
      return [{ ...answer, approved }];
    }
    if (state !== "approval-responded" || approval?.approved === undefined) return [];
    const [, run, seq, call] = /^([^/]+)\/(\d+)\/(.+)$/.exec(approval.id) ?? [];
    if (run === undefined || call === undefined) return [];
    return [{ run, seq: Number(seq), call, approved: approval.approved, reason: approval.reason }];
  });
}
