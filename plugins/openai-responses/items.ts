import { record, word } from "venturi/plugin";

type Json = Readonly<Record<string, unknown>>;

/** Calls that the client is asked to carry out, though it did not offer them as functions: what each is called. */
const clientCalls: ReadonlyMap<string, string> = new Map([
  ["custom_tool_call", ""],
  ["local_shell_call", "local_shell"],
  ["shell_call", "shell"],
  ["apply_patch_call", "apply_patch"],
  ["computer_call", "computer"],
]);

/** Whether the item asks the client for something that it did not offer as a function. */
export const isClientCall = (item: Json): boolean => clientCalls.has(word(item.type) ?? "") && !isHosted(item);

export interface ClientCall {
  readonly kind: string;
  readonly call: string | undefined;
  readonly name: string;
  readonly arguments: string;
  /** Needed to send the call back as the item it was. */
  readonly signature: string;
}

/** The call in an item that is done; undefined when it is not the client's to carry out. */
export function clientCallOf(item: Json): ClientCall | undefined {
  const kind = word(item.type) ?? "";
  if (!isClientCall(item)) return undefined;
  const { type: _, id: _id, status: _status, call_id, name: own, input, created_by: _by, ...rest } = item;
  const body = kind === "custom_tool_call" ? { input: typeof input === "string" ? input : "" } : rest;
  return {
    kind,
    call: word(call_id),
    name: word(own) ?? clientCalls.get(kind) ?? kind,
    arguments: JSON.stringify(body),
    signature: JSON.stringify(item),
  };
}

/** A shell in a container of the vendor's is run by the vendor. */
const isHosted = (item: Json): boolean => (word(record(item.environment).type) ?? "local") !== "local";
