import { textAt } from "venturi/internal";
import type { Delta, JsonPlace } from "venturi/plugin";
import { asRecord, asText, parseJson } from "venturi/plugin/provider";

export const wireName = "anthropic-messages";

export type Wire = Readonly<Record<string, unknown>>;

/** A block, and its place in the original text: re-encoding it would change long numbers. */
export interface Source {
  readonly block: Wire;
  readonly source: { readonly text: string; readonly place: JsonPlace };
}

export interface Thinking {
  readonly kind: "thinking";
  readonly part: number;
  signature: string;
  open: boolean;
}

export interface Call {
  readonly kind: "call";
  readonly call: number;
  /** Input given in full at the start; usually the placeholder `{}`. */
  input: string | undefined;
  written: boolean;
  open: boolean;
}

/** A complete call that is sent once more: it may not say anything else. */
export interface Again {
  readonly kind: "again";
  readonly call: number;
  readonly input: string | undefined;
  json: string;
}

/** A server-side block, and the JSON streamed into it. */
export interface Server {
  readonly kind: "server";
  readonly data: Wire;
  readonly patch: Map<string, unknown>;
  json: string;
  open: boolean;
}

/** A content block between start and stop. */
export type Block = Thinking | Call | Again | Server | { readonly kind: "ended" };

/** The fields of each block that are read here. */
export const known = {
  text: new Set(["type", "text", "citations"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted: new Set(["type", "data"]),
  call: new Set(["type", "id", "name", "input"]),
};

export const knownBlock = /_tool_use$|_tool_result$|^(mcp_tool_listing|container_upload|compaction|fallback)$/;

/** Server-side activity is not for the client to execute; it is sent back verbatim so that the model sees it again. */
export function activity(block: Server): Delta {
  const type = asText(block.data.type) ?? "";
  const kind = /_tool_(use|result)$/.test(type) ? "server_tool" : "part";
  const data: Record<string, unknown> = { ...block.data, ...Object.fromEntries(block.patch) };
  if (block.json === "") return { type: "activity", kind, wire: wireName, data, keep: true };
  const input = parseJson(block.json);
  // Truncated input can be shown, but the API would reject it.
  if (typeof input !== "object")
    return { type: "activity", kind, wire: wireName, data: { ...data, input: block.json } };
  return { type: "activity", kind, wire: wireName, data: { ...data, input }, keep: true };
}

/** Input from the block's start as JSON text; undefined for the usual empty placeholder. */
export function wholeInput(input: unknown, { text, place }: Source["source"]): string | undefined {
  if (typeof input === "string") return asText(input);
  if (typeof input !== "object" || input === null || Object.keys(input).length === 0) return undefined;
  return textAt(text, [...place, "input"]) ?? JSON.stringify(input);
}

/** The tool's caller, if not the model itself: Anthropic requires it back on the same block. */
export function origin(block: Wire): string | undefined {
  const caller = asRecord(block.caller);
  const direct = asText(caller.type) === undefined || caller.type === "direct";
  if (direct && asText(block.toolset_name) === undefined) return undefined;
  return JSON.stringify({ caller: direct ? undefined : caller, toolset_name: block.toolset_name ?? undefined });
}
