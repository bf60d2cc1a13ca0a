import { asRecord, asText } from "venturi/plugin/provider";

type Json = Readonly<Record<string, unknown>>;

/** Calls the client must execute although it did not offer them as functions, and their tool names. */
const clientCalls: ReadonlyMap<string, string> = new Map([
  ["custom_tool_call", ""],
  ["local_shell_call", "local_shell"],
  ["shell_call", "shell"],
  ["apply_patch_call", "apply_patch"],
  ["computer_call", "computer"],
]);

/** Whether the client must execute the item although it did not offer it as a function. */
export const isClientCall = (item: Json): boolean => clientCalls.has(asText(item.type) ?? "") && !isHosted(item);

export interface ClientCall {
  readonly kind: string;
  readonly call: string | undefined;
  readonly name: string;
  readonly arguments: string;
  /** Needed to send the call back as the original item. */
  readonly signature: string;
}

/** The call in a finished item; undefined when the client need not execute it. */
export function clientCallOf(item: Json): ClientCall | undefined {
  const kind = asText(item.type) ?? "";
  if (!isClientCall(item)) return undefined;
  const { type: _, id: _id, status: _status, call_id, name: own, input, created_by: _by, ...rest } = item;
  const body = kind === "custom_tool_call" ? { input: typeof input === "string" ? input : "" } : rest;
  return {
    kind,
    call: asText(call_id),
    name: asText(own) ?? clientCalls.get(kind) ?? kind,
    arguments: JSON.stringify(body),
    signature: JSON.stringify(item),
  };
}

/** The vendor runs a shell in its own container. */
const isHosted = (item: Json): boolean => (asText(asRecord(item.environment).type) ?? "local") !== "local";
