import type { PendingCall } from "../../core/run/event-fields.ts";
import type { RoundState } from "../state/round-state.ts";
import type { ToolTable } from "./tool-table.ts";

/** The round's calls of client tools. */
export const clientCalls = (round: RoundState, tools: ToolTable): PendingCall[] =>
  round.inOrder
    .filter((call) => tools.isClient(call.name))
    .map(({ call, name, arguments: input, raw, text }) => ({
      call,
      name,
      arguments: { ...input },
      ...(raw === undefined ? {} : { raw }),
      ...(text === undefined ? {} : { text }),
    }));
