import type { Delta } from "../core/model/deltas.ts";
import { argumentsText, type Part } from "../core/model/messages.ts";
import type { Generation } from "../core/model/provider.ts";
import { decodedFrom } from "./collect.ts";

/** A complete answer as the deltas it would have streamed. */
export function deltasOf(generation: Generation): Delta[] {
  const known = decodedFrom(generation);
  if (known !== undefined) return [...known];
  const deltas: Delta[] = [];
  const { id, model } = generation;
  if (id !== undefined || model !== undefined) {
    deltas.push({ type: "response", ...(id !== undefined && { id }), ...(model !== undefined && { model }) });
  }
  let calls = 0;
  let reasoning = 0;
  for (const part of generation.parts) {
    const delta = deltaOf(part, part.type === "tool_call" ? calls++ : part.type === "reasoning" ? reasoning++ : 0);
    if (delta !== undefined) deltas.push(delta);
  }
  deltas.push({ type: "usage", usage: generation.usage });
  const raw = generation.raw === undefined ? {} : { raw: generation.raw };
  deltas.push({ type: "done", finish: generation.finish, ...raw });
  return deltas;
}

function deltaOf(part: Part, index: number): Delta | undefined {
  switch (part.type) {
    case "text":
      return part;
    case "reasoning":
      return { ...part, part: index };
    case "tool_call": {
      const { call, name, signature } = part;
      const json = argumentsText(part);
      const signed = signature === undefined ? {} : { signature };
      return { type: "tool_call", index, id: call, name, arguments: json, sealed: true, ...signed };
    }
    case "opaque":
      return { type: "activity", kind: "part", wire: part.wire, data: part.data, keep: true };
    case "image":
    case "file":
    case "tool_result":
      return undefined;
  }
}
