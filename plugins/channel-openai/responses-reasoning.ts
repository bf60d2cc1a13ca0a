import type { Part, ReasoningPart } from "venturi/plugin";
import { asRecord, asText, parseJson } from "venturi/plugin/provider";

/** Signatures of reasoning, and the provider that issued them, the only one that accepts them. */
export interface Proof {
  readonly provider: string | undefined;
  readonly encrypted?: string;
  readonly signature?: string;
  readonly id?: string;
}

const prefix = "venturi.";

/** A proof as `encrypted_content`, which is opaque to clients. */
export function sealed({ provider, encrypted, signature, id }: Proof): string | undefined {
  if (encrypted === undefined && signature === undefined) return undefined;
  const text = JSON.stringify({ p: provider, e: encrypted, s: signature, i: id });
  return prefix + Buffer.from(text).toString("base64url");
}

/** The reasoning in an item issued by this service; undefined for others. */
export function unsealed(item: Record<string, unknown>): { provider: string | undefined; part: Part } | undefined {
  const content = asText(item.encrypted_content);
  if (content?.startsWith(prefix) !== true) return undefined;
  const said = asRecord(parseJson(Buffer.from(content.slice(prefix.length), "base64url").toString()));
  const [encrypted, signature, id] = [asText(said.e), asText(said.s), asText(said.i)];
  const part: ReasoningPart = {
    type: "reasoning",
    text: textOf(item),
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(signature === undefined ? {} : { signature }),
    ...(id === undefined ? {} : { id }),
  };
  return { provider: asText(said.p), part };
}

const textOf = ({ summary }: Record<string, unknown>): string =>
  (Array.isArray(summary) ? summary : []).map((each) => asText(asRecord(each).text) ?? "").join("\n\n");
